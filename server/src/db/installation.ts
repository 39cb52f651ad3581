import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError, type Config } from '../config'

/** What an installation has for itself, beside the database. */
export interface Installation {
  /** The operator key. */
  adminKey: string
  /** Where the operator key is kept, undefined where the environment holds it. */
  adminKeyPath: string | undefined
  /** 32 bytes. */
  encryptionKey: Buffer
}

const isCode = (thrown: unknown, code: string) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === code

/** The text of a file that only its owner reads; written at the first start. */
async function kept(path: string, make: () => string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    if (isCode(thrown, 'ENOENT')) return undefined
    throw new StartError(`${path} cannot be read. Make it readable to this user, or remove it.`)
  })
  if (text?.trim()) return text.trim()
  const made = make()
  await writeFile(path, `${made}\n`, { mode: 0o600 })
  return made
}

/** Reads or makes the keys of an installation. Throws `StartError`. */
export async function openInstallation(dataDir: string, config: Config): Promise<Installation> {
  const adminKeyPath = join(dataDir, 'admin-key')
  const encryptionKeyPath = join(dataDir, 'encryption-key')
  const adminKey =
    config.adminKey ??
    (await kept(adminKeyPath, () => `tg-admin-${randomBytes(24).toString('base64url')}`))
  if (config.encryptionKey) {
    return {
      adminKey,
      adminKeyPath: config.adminKey ? undefined : adminKeyPath,
      encryptionKey: config.encryptionKey,
    }
  }
  const text = await kept(encryptionKeyPath, () => randomBytes(32).toString('base64'))
  const encryptionKey = Buffer.from(text, 'base64')
  if (encryptionKey.length !== 32) {
    throw new StartError(
      `${encryptionKeyPath} is damaged. Restore it: secrets cannot be read without it.`,
    )
  }
  return { adminKey, adminKeyPath: config.adminKey ? undefined : adminKeyPath, encryptionKey }
}
