import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fingerprintOf, type SealingKey, type SealingKeys } from './sealed'
import { readKeys, StartError, type Config, type NamedKey } from '../config/config'

/** The keys of an installation, which are not in the database. */
export interface Installation {
  /** The operator key. */
  adminKey: string
  /** The path of the file with the operator key; undefined if the environment holds the key. */
  adminKeyPath: string | undefined
  /** The keys that seal the stored secrets. */
  sealingKeys: SealingKeys
}

const isCode = (thrown: unknown, code: string) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === code

/** Reads a file that only its owner can read; writes it at the first start. */
async function readOrCreate(path: string, make: () => string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    if (isCode(thrown, 'ENOENT')) return undefined
    throw new StartError(`${path} cannot be read. Make it readable to this user, or remove it.`)
  })
  if (text?.trim()) return text.trim()
  const created = make()
  await writeFile(path, `${created}\n`, { mode: 0o600 })
  return created
}

/** Reads or creates the keys of an installation. Throws `StartError`. */
export async function openInstallation(dataDir: string, config: Config): Promise<Installation> {
  const adminKeyPath = join(dataDir, 'admin-key')
  const adminKey =
    config.adminKey ??
    (await readOrCreate(adminKeyPath, () => `tg-admin-${randomBytes(24).toString('base64url')}`))
  return {
    adminKey,
    adminKeyPath: config.adminKey ? undefined : adminKeyPath,
    sealingKeys: await openSealingKeys(dataDir, config),
  }
}

/** Returns the keys of the environment, else those in the data directory, which are created if missing. */
export async function openSealingKeys(
  dataDir: string,
  { encryptionKeys: configured }: Pick<Config, 'encryptionKeys'>,
): Promise<SealingKeys> {
  const path = join(dataDir, 'encryption-key')
  const text = configured ? '' : await readOrCreate(path, () => randomBytes(32).toString('base64'))
  const [first, ...others] = configured ?? readKeys(text) ?? []
  if (first) return [toSealingKey(first), ...others.map(toSealingKey)]
  throw new StartError(`${path} is damaged. Restore it: secrets cannot be read without it.`)
}

const toSealingKey = ({ id, key }: NamedKey): SealingKey => ({
  id: id ?? fingerprintOf(key).toString('hex'),
  key,
})
