/** Greater than every UUIDv7: the start of a list. With a null test instead, a generic plan could not use the index range. */
export const beforeFirst = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
