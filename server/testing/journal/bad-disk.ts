import { nodeFileSystem, type JournalFileSystem } from '../../src/journal/file-system'

/** A disk whose next syncs and writes are what a test says. */
export function badDisk() {
  const state = {
    syncs: 0,
    writeError: undefined as Error | undefined,
    syncError: undefined as Error | undefined,
    /** Syncs wait for it. */
    held: undefined as Promise<void> | undefined,
  }
  const fileSystem: JournalFileSystem = {
    ...nodeFileSystem,
    async sync(fd, kind) {
      state.syncs += 1
      await state.held
      if (state.syncError) throw state.syncError
      await nodeFileSystem.sync(fd, kind)
    },
    write(...given) {
      if (state.writeError) throw state.writeError
      return nodeFileSystem.write(...given)
    },
  }
  return { state, fileSystem }
}
