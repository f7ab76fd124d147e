export type AboutEndpoint = { body_about_endpoint: string | null };

/** Selects what `endpointIdOf` needs; the bodies of other events are not read. */
export const bodyAboutEndpoint = `case when type like 'webhook\\_endpoint.%' then body end as body_about_endpoint`;

/** The id of the endpoint that an event is about, which must not get it; null if there is none. */
export function endpointIdOf({ body_about_endpoint: body }: AboutEndpoint): string | null {
  // The data of a test event can be anything.
  const id: unknown = body === null ? null : JSON.parse(body).data?.webhook_endpoint_id;
  return typeof id === 'string' ? id : null;
}
