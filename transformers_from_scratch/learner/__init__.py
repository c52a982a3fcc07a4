"""fastai learners: one for each kind of model, and what is done with a trained one: predict, explain, calibrate, embed, search. Knows all above."""
