"""fastai learners, one for each kind of model, what makes a fastai user at home in them, and what explains their answers. Knows all above."""
