"""What several analyses measure of judgments: coefficients of a group, and what they rest on.

It stands between counting and the analyses: an analysis imports it, and never another analysis.
"""
