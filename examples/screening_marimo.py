"""What a lab test promises in screening, as a notebook: `marimo edit examples/screening_marimo.py`.

It also runs as a script, and then prints the operating points: `python examples/screening_marimo.py`.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="From the lab to screening")


@app.cell
def _():
    import marimo as mo
    import polars as pl
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import polars_prcurve

    features, benign = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    score = cross_val_predict(model, features, benign == 0, method="decision_function")
    df = pl.DataFrame({"score": score, "label": benign == 0})
    print(f"polars_prcurve {polars_prcurve.__version__}, {df.height} tumours")
    return df, mo


@app.cell
def _(mo):
    eta = mo.ui.slider(steps=[0.4, 0.1, 0.04, 0.01, 0.004, 0.001], value=0.004, label="Prevalence")
    mo.hstack([eta])
    return (eta,)


@app.cell
def _(df, eta, mo):
    chart = df.prc.plot.pr_curve(eta.value, confidence=0.95)
    mo.ui.altair_chart(chart)
    return (chart,)


@app.cell
def _(df, eta, mo):
    columns = ["target", "threshold", "precision", "precision_low", "precision_high", "alerts"]
    points = df.prc.operating_points(eta.value, recall=[0.8, 0.9, 0.95], per=1_000, confidence=0.95)
    shown = points.select(columns)
    if mo.app_meta().mode == "script":
        print(shown)
    mo.ui.table(shown)
    return (shown,)


if __name__ == "__main__":
    app.run()
