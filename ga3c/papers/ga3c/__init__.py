"""Figures and tables of GA3C (Babaeizadeh et al., ICLR 2017)."""
