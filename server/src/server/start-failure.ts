import { StartError } from '../platform/config/config'

/** Explanations of operating system errors for an operator. */
const systemMessages: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on the disk. Free some space, or set DATA_DIR to another disk',
  EDQUOT: 'the disk quota is used up. Free some space, or set DATA_DIR to another disk',
  EROFS: 'the file system is read-only. Mount it for writing, or set DATA_DIR to another directory',
  EACCES: 'this user may not read or write it. Change its owner or mode',
  EPERM: 'the system does not permit it to this user. Change its owner or mode',
  EMFILE: 'too many files are open in this process. Raise the limit: ulimit -n 65535',
  ENFILE: 'too many files are open on this machine. Raise fs.file-max',
  ENOTDIR: 'a part of the path is no directory. Set DATA_DIR to a directory',
  EISDIR:
    'it is a directory, where a file is expected. Remove it, or set DATA_DIR to another directory',
  ELOOP: 'its symbolic links lead in a circle. Set DATA_DIR to a directory',
  ENAMETOOLONG: 'its path is too long. Set DATA_DIR to a shorter one',
  EIO: 'the disk fails. Check it, or set DATA_DIR to another disk',
  ENOMEM: 'there is no memory left. Free some memory',
  EADDRINUSE: 'the address is in use. Stop the other process, or set another port',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one of its addresses',
}

const maxCauses = 8

function* causesOf(thrown: unknown): Generator<Error> {
  let one = thrown
  for (let depth = 0; depth < maxCauses && one instanceof Error; depth += 1) {
    yield one
    one = one.cause
  }
}

const textOf = (error: Error, field: string): string | undefined => {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Returns a failed start's cause as one line, if an operator can fix it: `StartError`, errors of the operating system,
 * rejections by the database. Undefined for anything else, which is a bug.
 */
export function startFailureLine(thrown: unknown): string | undefined {
  const message = messageOf(thrown)
  return message && `tollgate: ${message.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim()}`
}

function messageOf(thrown: unknown): string | undefined {
  if (thrown instanceof StartError) return thrown.message
  for (const error of causesOf(thrown)) {
    const knownMessage = systemMessages[textOf(error, 'code') ?? '']
    if (knownMessage) return `${textOf(error, 'path') ?? 'The start failed'}: ${knownMessage}.`
  }
  for (const error of causesOf(thrown)) {
    // An error of PostgreSQL has both; its message may repeat values, its code does not.
    const [code, severity] = [textOf(error, 'code'), textOf(error, 'severity')]
    if (code && severity) return `The database refused the start: ${error.message} (${code}).`
  }
  return undefined
}
