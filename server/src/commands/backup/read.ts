import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { Checksums, Contents, formatVersion, names } from './contents'
import { readTar, type TarEntry } from './tar'
import { StartError } from '../../platform/config/config'

const damaged = (path: string, reason: string) =>
  new StartError(`${path} cannot be restored: ${reason}. Take another backup.`)

/** Yields the files of a backup, one at a time. Throws `StartError` if it is damaged. */
export async function* readEntries(path: string): AsyncGenerator<TarEntry> {
  const file = createReadStream(path)
  const unzipped = createGunzip()
  file.on('error', (error) => unzipped.destroy(error))
  try {
    yield* readTar(file.pipe(unzipped))
  } catch (thrown) {
    if (thrown instanceof StartError) throw thrown
    throw damaged(path, thrown instanceof Error ? thrown.message : String(thrown))
  } finally {
    file.destroy()
    unzipped.destroy()
  }
}

function read<Value>(
  schema: { safeParse: (value: unknown) => { data?: Value } },
  { bytes }: TarEntry,
) {
  try {
    return schema.safeParse(JSON.parse(bytes.toString())).data
  } catch {
    return undefined
  }
}

/** Reads the description of a backup. Throws `StartError` if it is not a backup, or one of a newer format. */
function contentsIn(path: string, entry: TarEntry): Contents {
  const header = read(Contents.pick({ format: true, format_version: true, version: true }), entry)
  if (entry.name !== names.contents || !header) throw damaged(path, 'it is no backup of Tollgate')
  if (header.format_version > formatVersion) {
    throw new StartError(
      `${path} was made by Tollgate ${header.version}, which is newer than this.`,
    )
  }
  const contents = read(Contents, entry)
  if (!contents) throw damaged(path, `its ${names.contents} is damaged`)
  return contents
}

/** A complete backup: every byte of it was read and matches its checksum. */
export interface VerifiedBackup {
  path: string
  contents: Contents
  checksums: Checksums
}

/** Reads a whole backup. Throws `StartError` if any part of it is missing or was changed. */
export async function verify(path: string): Promise<VerifiedBackup> {
  const digests: Record<string, string> = {}
  let contents: Contents | undefined
  let checksums: Checksums | undefined
  for await (const entry of readEntries(path)) {
    contents ??= contentsIn(path, entry)
    if (checksums) throw damaged(path, 'something stands behind its end')
    if (entry.name === names.checksums) checksums = read(Checksums, entry)
    else digests[entry.name] = createHash('sha256').update(entry.bytes).digest('hex')
  }
  if (!contents || !checksums) throw damaged(path, 'it ends in the middle')
  const { files, rows } = checksums
  const all = new Set([...Object.keys(files), ...Object.keys(digests)])
  for (const name of all) {
    if (files[name] !== digests[name])
      throw damaged(path, `${name} in it does not match its checksum`)
  }
  const missingTable = contents.tables.find(({ name }) => rows[name] === undefined)
  if (missingTable) throw damaged(path, `the table ${missingTable.name} is missing`)
  return { path, contents, checksums }
}
