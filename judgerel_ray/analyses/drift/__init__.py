"""What moved between refreshes of a series: a judge, the system it judges, or neither."""
