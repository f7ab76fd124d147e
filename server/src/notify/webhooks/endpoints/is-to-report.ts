/**
 * SQL: whether an endpoint's health has to be reported. Repeats the predicate of the index, so that a statement reads only the endpoints
 * that are in it.
 */
export const isToReport = `(reported_health = 'recovered'
    or failing_since is not null and (reported_health is null or reported_health = 'enabled'))`;
