"""`dtaidistance.subsequence`: where a query occurs in a longer series."""
