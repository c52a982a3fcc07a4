"Reads settings.ini, where all metadata of this package stands, and hands it to setuptools."
from configparser import ConfigParser
from pathlib import Path
from setuptools import setup, find_packages

here = Path(__file__).parent
cp = ConfigParser(interpolation=None)
cp.read(here/'settings.ini', encoding='utf-8')
cfg = cp['DEFAULT']
urls = {name: cfg[key] for name, key in [('Repository', 'git_url'), ('Documentation', 'doc_url')] if cfg.get(key)}
readme = here/'README.md'
extras = 'subword','hf','bleu','onnx','distributed'                                            # which `dev` has as well

setup(
    name=cfg['lib_name'], version=cfg['version'], license=cfg['license'],
    author=cfg['author'], author_email=cfg['author_email'] or None, keywords=cfg['keywords'].split(),
    python_requires=f">={cfg['min_python']}", project_urls=urls,
    install_requires=cfg['requirements'].split(),
    extras_require=dict(dev=' '.join(cfg[f'{o}_requirements'] for o in ('dev',*extras)).split(),
                        **{o: cfg[f'{o}_requirements'].split() for o in ('bench','site','notebook','openvino',*extras)}),
    packages=find_packages(include=['transformers_from_scratch*']), include_package_data=True,
    entry_points=dict(nbdev=['transformers_from_scratch = transformers_from_scratch._modidx:d']),
    long_description=readme.read_text(encoding='utf-8') if readme.exists() else '',
    long_description_content_type='text/markdown',
    classifiers=['Development Status :: 3 - Alpha', 'Intended Audience :: Developers', 'Intended Audience :: Science/Research',
                 'Programming Language :: Python :: 3', 'Programming Language :: Python :: 3 :: Only'])
