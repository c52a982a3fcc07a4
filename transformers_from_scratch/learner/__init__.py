"""What makes a user of fastai at home: a learner for each kind of model, and what is done with a trained one. Knows all above."""
