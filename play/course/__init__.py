"""The course's exercises: their tasks, our solutions, and a checker that runs other people's."""
