import { chmod, mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { detectProgramPlatform, type Programs } from './programs'

/** What the build of the single executable put into it. */
export interface PackedPrograms {
  /** Has a digest of the archive in it. */
  name: string
  /** Path of a tar archive, packed by Zstandard. */
  archive: string
  sizes: Readonly<Record<string, number>>
}

/** The programs that the executable carries along. Throws `StartError` where they do not run. */
export function unpackPrograms({ name, archive, sizes }: PackedPrograms): Programs {
  detectProgramPlatform()
  return {
    name,
    async placeIn(folder) {
      await mkdir(folder)
      const packed = await Bun.file(archive).bytes()
      await new Bun.Archive(await Bun.zstdDecompress(packed)).extract(folder)
      await openToAll(folder)
    },
    sizes: () => Promise.resolve(new Map(Object.entries(sizes))),
  }
}

/** Whatever our umask: we write, the server's account only reads. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const owned = entries.filter((entry) => !entry.isSymbolicLink())
  await Promise.all(
    owned.map(async (entry) => {
      const runs = entry.isDirectory() || basename(entry.parentPath) === 'bin'
      await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644)
    }),
  )
}
