"""CUDA cells and graded cells for notebooks: `%load_ext rooflab`, then `%%cuda` and `%%rooflab`."""

__version__ = "0.1.0"


def load_ipython_extension(shell):
    """What `%load_ext rooflab` calls."""
    from rooflab.magics import RooflabMagics  # IPython is needed only here

    shell.register_magics(RooflabMagics)
