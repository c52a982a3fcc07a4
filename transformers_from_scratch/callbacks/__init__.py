"""fastai callbacks for long and fast trainings: resume after a kill, average weights, mixed precision, large vocabularies. Knows `learner` and all above."""
