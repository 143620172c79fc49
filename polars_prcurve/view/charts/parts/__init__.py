"""The parts that charts share: curves, channels, points, layers and axes, words."""
