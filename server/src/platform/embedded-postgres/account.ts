import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The operating system account that runs the embedded PostgreSQL. */
export interface ServerAccount {
  uid: number
  gid: number
  /** Whether that is another account than this process has, which then is root. */
  isForeign: boolean
}

/** Returns the account of this process; for root, which PostgreSQL rejects, the account `nobody`. */
export async function getServerAccount(passwdPath = '/etc/passwd'): Promise<ServerAccount> {
  const uid = process.getuid?.() ?? 0
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? uid, isForeign: false }
  const passwd = await readFile(passwdPath, 'utf8').catch(() => '')
  const [, , userId, groupId] = /^nobody:.*$/m.exec(passwd)?.[0].split(':') ?? []
  return { uid: toId(userId), gid: toId(groupId), isForeign: true }
}

/** macOS has the account `nobody` at -2, which the kernel treats as an unsigned number. */
const toId = (text: string | undefined) => Number(text ?? 65_534) >>> 0

/** Whether `account` can traverse `directory` and all its parents, judged by owners and modes. */
export async function canEnter(account: ServerAccount, directory: string): Promise<boolean> {
  // Only root runs the server as another account; our own access needs no check.
  if (!account.isForeign) return true
  let path = await realpath(directory)
  for (;;) {
    const { uid, gid, mode } = await stat(path)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (path === dirname(path)) return true
    path = dirname(path)
  }
}
