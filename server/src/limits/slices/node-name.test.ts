import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nextNodeName } from './node-name'

const newDirectory = () => mkdtempSync(join(tmpdir(), 'tollgate-node-name-'))

test('each process of a data directory has a name of its own, and knows the one before', () => {
  const directory = newDirectory()
  const first = nextNodeName(directory)
  const second = nextNodeName(directory)
  expect(first.predecessor).toBeUndefined()
  expect(second.predecessor).toBe(first.node)
  expect(second.node).not.toBe(first.node)
})

test.each(['', 'one\ntwo', '../other', 'x'.repeat(10_000)])(
  'a file that holds no name is replaced',
  (text) => {
    const directory = newDirectory()
    writeFileSync(join(directory, 'limit-node'), text)
    const { node, predecessor } = nextNodeName(directory)
    expect(predecessor).toBeUndefined()
    expect(nextNodeName(directory).predecessor).toBe(node)
  },
)

test('a process has a name even without room for the file or a directory', () => {
  expect(nextNodeName('/dev/null/missing').node).toHaveLength(26)
})
