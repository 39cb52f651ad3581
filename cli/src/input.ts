import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from './server'

/** Reads the first line of standard input. */
async function firstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text.split('\n')[0]?.trim() ?? ''
}

/** Reads a secret: without echo at a terminal, else from standard input. */
export async function readSecret(prompt: string): Promise<string> {
  const secret = process.stdin.isTTY ? await typedUnseen(prompt) : await firstLine()
  if (secret) return secret
  throw new UsageError('A secret is required: type it, or send it to standard input.')
}

async function typedUnseen(prompt: string): Promise<string> {
  process.stderr.write(prompt)
  const discard = new Writable({ write: (_chunk, _encoding, callback) => callback() })
  const reader = createInterface({ input: process.stdin, output: discard, terminal: true })
  try {
    return (await reader.question('')).trim()
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}

/** Throws unless the operator confirms with yes at a terminal. */
export async function confirmed(prompt: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('There is no terminal to confirm at: pass --yes.')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await reader.question(`${prompt} Type yes: `)
  reader.close()
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
}
