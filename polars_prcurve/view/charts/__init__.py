"""Charts: each function takes a table of this package and returns a plain Altair chart.

    table -> chart_curves        checked and sorted, under fixed field names
          -> colors_and_panels   which columns are colour and which are panels
          -> points_to_draw      fewer points for the same picture, and a record for each line
          -> line_drawing        lines, dots, lines to compare with, and what the pointer reads
          -> marked_points       filled points of a table such as `operating_points`
          -> title_phrases       phrases of which charts choose their titles
          -> curve_chart         all of this for lines: what is drawn, read and written
          -> panel_in_pixels     where lines, dots and words are, and what is free
          -> label_placement     names at lines, and labels at points
          -> chart_assembly      layers, panels, title and note
          <- active_theme        the palette and the sizes of type

These parts are in `charts/parts`, and each chart has a short module that puts them together.
"""
