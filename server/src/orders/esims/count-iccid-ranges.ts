export { countRanges as countIccidRanges } from './sql/count-ranges.ts';
