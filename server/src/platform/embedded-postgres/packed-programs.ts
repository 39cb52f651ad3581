import { chmod, mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { detectProgramPlatform, type Programs } from './programs'

/** The programs that the build of the single executable put into it. */
export interface PackedPrograms {
  /** Contains a digest of the archive. */
  name: string
  /** The path of a tar archive, compressed with Zstandard. */
  archive: string
  sizes: Readonly<Record<string, number>>
}

/** Returns the programs that the executable contains. Throws `StartError` on a platform where they do not run. */
export function unpackPrograms({ name, archive, sizes }: PackedPrograms): Programs {
  detectProgramPlatform()
  return {
    name,
    async writeTo(folder) {
      await mkdir(folder)
      const packed = await Bun.file(archive).bytes()
      await new Bun.Archive(await Bun.zstdDecompress(packed)).extract(folder)
      await openToAll(folder)
    },
    sizes: () => Promise.resolve(new Map(Object.entries(sizes))),
  }
}

/** Whatever our umask: we may write, the server's account may only read. */
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
