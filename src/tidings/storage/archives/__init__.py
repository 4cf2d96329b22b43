"""The rows that archives of accounts consist of."""
