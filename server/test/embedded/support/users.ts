import { currentUser, unprivilegedUser } from '../../../src/db/embedded/system-user.ts';

export type TestUser = {
  title: string;
  isRoot: boolean;
  uid: number;
  gid: number;
  spawn: { uid?: number; gid?: number };
};

const me = currentUser();

const asMyself: TestUser = {
  title: me.uid === 0 ? 'root' : 'an ordinary user',
  isRoot: me.uid === 0,
  uid: me.uid,
  gid: me.gid,
  spawn: {},
};

export const ordinaryUser: TestUser = asMyself.isRoot ? await asNobody() : asMyself;

/** Root can also run as another user; an ordinary user only as itself. */
export const users: TestUser[] = asMyself.isRoot ? [asMyself, ordinaryUser] : [asMyself];

async function asNobody(): Promise<TestUser> {
  const { uid, gid } = await unprivilegedUser();
  return { title: 'an ordinary user', isRoot: false, uid, gid, spawn: { uid, gid } };
}
