"""What a wave of requests is made of: items in their orders, under the conditions asked."""
