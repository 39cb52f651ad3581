import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdBody, isId } from '../../platform/db/id'

/** The name of a process among those that share limits, and that of the process before it in the same data directory. */
export interface NodeName {
  node: string
  /** Undefined at the first start. It has ended: only one process at a time uses a data directory. */
  predecessor: string | undefined
}

/**
 * Returns a new name, and stores it for the process that follows, unless the disk is full. `directory` is locked for this
 * process. Never throws.
 */
export function nextNodeName(directory: string): NodeName {
  const path = join(directory, 'limit-node')
  const predecessor = readName(path)
  const node = generateIdBody()
  try {
    writeFileSync(path, `${node}\n`, { mode: 0o600 })
  } catch {
    // As without a predecessor: its slices expire after a while.
  }
  return { node, predecessor }
}

/** Returns undefined where the file is missing or holds no name. */
function readName(path: string): string | undefined {
  try {
    const name = readFileSync(path, 'utf8').trim()
    return isId('node', `node_${name}`) ? name : undefined
  } catch {
    return undefined
  }
}
