"""Says in plain words whether this Python is new enough. Runs on any Python 3, old ones too."""
import os, re, sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(root, 'settings.ini')) as f: need = re.search(r'min_python\s*=\s*(\S+)', f.read()).group(1)
have = '.'.join(str(o) for o in sys.version_info[:3])
if sys.version_info[:2] < tuple(int(o) for o in need.split('.')):
    sys.exit('This project needs Python {0} or newer, and {1} is Python {2}.\n'
             'Install a newer one, or name one that you have, for example: make test PYTHON=python{0}'.format(
                 need, sys.executable, have))
try: import venv, ensurepip
except ImportError:
    sys.exit('{} cannot make a virtual environment: its parts venv and ensurepip are missing.\n'
             'On Debian and Ubuntu they come with: apt-get install python3-venv'.format(sys.executable))
