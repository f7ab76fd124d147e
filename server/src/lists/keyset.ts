/** Above every UUIDv7: where a list begins. A null test instead would cost the index range in a generic plan. */
export const beforeFirst = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
