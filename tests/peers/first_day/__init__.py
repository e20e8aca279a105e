"""first_day: what a newcomer does with nothing but the README, as tests. README.md"""
