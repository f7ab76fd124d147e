import { uuidText } from '../../src/platform/ids/uuid.ts';
import { esimMatchingIdPlace } from '../../src/platform/secrets/sealed-places.ts';
import type { TestService } from './service.ts';

// Far above what the mock network counts up to, whose ICCIDs begin alike.
let serial = 900_000_000_000;

/** Inserts an eSIM as if a network had provisioned it, and returns its ICCID. Its matching id contains SECRET. */
export async function insertEsim(
  { db, service, accountUuid }: TestService,
  status: 'provisioned' | 'suspended' = 'provisioned',
): Promise<string> {
  const iccid = `8999901${++serial}`;
  const { keyring, newUuid } = service;
  const sealed = keyring.seal('SECRET-MATCHING-ID', esimMatchingIdPlace(accountUuid, iccid));
  await db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, resumes_to, profile_state, metadata,
        smdp_address, matching_id, confirmation_code_required, created_at, provisioned_at)
        values ($1, $2, $3, $4, 'prod_europe_5gb_30d', $6, $7, 'released', '{}', 'smdp.example', $5, false, now(), now())`,
    },
    [
      ...[accountUuid, uuidText(newUuid()), iccid, uuidText(newUuid()), sealed, status],
      status === 'suspended' ? 'provisioned' : null,
    ],
  );
  return iccid;
}
