import { currentUser, findUser } from '../../../src/platform/db/embedded/system-user.ts';

export type TestUser = {
  title: string;
  isRoot: boolean;
  isNamed: true;
  uid: number;
  gid: number;
  spawn: { uid?: number; gid?: number };
};

const me = currentUser();

const asMyself: TestUser = {
  title: me.uid === 0 ? 'root' : 'an ordinary user',
  isRoot: me.uid === 0,
  isNamed: true,
  uid: me.uid,
  gid: me.gid,
  spawn: {},
};

export const ordinaryUser: TestUser = asMyself.isRoot ? await asNobody() : asMyself;

/** Root can also run as another user; an ordinary user only as itself. */
export const users: TestUser[] = asMyself.isRoot ? [asMyself, ordinaryUser] : [asMyself];

async function asNobody(): Promise<TestUser> {
  const nobody = await findUser('nobody');
  if (!nobody) throw new Error('the tests need a user nobody');
  const { uid, gid } = nobody;
  return { title: 'an ordinary user', isRoot: false, isNamed: true, uid, gid, spawn: { uid, gid } };
}
