export { countRanges as countIccidRanges } from './sql/iccids.ts';
