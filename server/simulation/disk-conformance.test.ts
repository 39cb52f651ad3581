import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from '../testing/property'
import { codeOf, diskOf, filled } from './disk-for-tests'
import { nodeFileSystem, type JournalFileSystem } from '../src/journal/file-system'

const name = fc.constantFrom('a', 'b', 'c')
const command = fc.oneof(
  fc.record({ kind: fc.constant('open'), name, flags: fc.constantFrom('w+', 'r+', 'r') }),
  fc.record({ kind: fc.constantFrom('close', 'statOpen'), file: fc.nat(3) }),
  fc.record({
    kind: fc.constantFrom('write', 'read', 'truncate'),
    file: fc.nat(3),
    offset: fc.nat(3000),
    bytes: fc.integer({ min: 1, max: 3000 }),
  }),
  fc.record({ kind: fc.constantFrom('rename', 'copyFile'), name, to: name }),
  fc.record({ kind: fc.constantFrom('remove', 'stat', 'readFile'), name }),
  fc.record({ kind: fc.constant('list') }),
)
/** A descriptor without a file. */
const unused = 1_000_000
type Command = typeof command extends fc.Arbitrary<infer Each> ? Each : never

/** Returns the result of each command, or the code of its error; inodes numbered by first appearance. */
function outcomes(files: JournalFileSystem, root: string, commands: readonly Command[]) {
  const descriptors: number[] = []
  const inodes: number[] = []
  const toFacts = (status: ReturnType<JournalFileSystem['stat']>) => {
    if (!status) return undefined
    if (!inodes.includes(status.inode)) inodes.push(status.inode)
    return { inode: inodes.indexOf(status.inode), bytes: status.bytes }
  }
  const play = (command: Command): unknown => {
    const { kind } = command
    if ('offset' in command) {
      const fd = descriptors[command.file] ?? unused
      if (kind === 'truncate') return files.truncate(fd, command.bytes)
      const bytes = filled(command.bytes, command.offset)
      if (kind === 'write') return files.write(fd, bytes, command.offset)
      return [files.read(fd, bytes, command.offset), bytes.toString('hex')]
    }
    if ('file' in command) {
      const fd = descriptors[command.file] ?? unused
      if (kind === 'statOpen') return toFacts(files.statOpen(fd))
      // The operating system gives the number to the next file that is opened.
      if (fd !== unused) descriptors[command.file] = unused
      return files.close(fd)
    }
    if (!('name' in command)) return files.list(root).toSorted()
    const path = join(root, command.name)
    if ('to' in command) {
      const to = join(root, command.to)
      return kind === 'rename' ? files.rename(path, to) : files.copyFile(path, to)
    }
    if ('flags' in command) return void descriptors.push(files.open(path, command.flags))
    if (kind === 'remove') return files.remove(path)
    return kind === 'stat' ? toFacts(files.stat(path)) : files.readFile(path).toString('hex')
  }
  const found = commands.map((command) => codeOf(() => play(command)))
  for (const fd of descriptors) if (fd !== unused) files.close(fd)
  return found
}

test('without faults it behaves like the file system of the operating system', () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  let run = 0
  const property = fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
    const directory = join(root, String(run++))
    mkdirSync(directory)
    const simulated = outcomes(diskOf(1).disk.fileSystem, '/d', commands)
    expect(simulated).toEqual(outcomes(nodeFileSystem, directory, commands))
  })
  fc.assert(property, { numRuns: 500 })
  rmSync(root, { recursive: true })
})
