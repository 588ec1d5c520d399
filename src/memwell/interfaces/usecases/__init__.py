"""What Memwell does, as one table from which every interface is made."""
