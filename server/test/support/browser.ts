// It lives with the scripts because one of them takes pictures with it, and scripts are built without the tests.
export { findBrowser, launchBrowser } from '../../../scripts/launch-browser.ts';
