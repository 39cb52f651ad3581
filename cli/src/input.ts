import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from './server'

/** The first line of what is sent to this process. */
async function firstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text.split('\n')[0]?.trim() ?? ''
}

/** A secret: typed unseen at a terminal, else read from the input. */
export async function readSecret(question: string): Promise<string> {
  const secret = process.stdin.isTTY ? await typedUnseen(question) : await firstLine()
  if (secret) return secret
  throw new UsageError('A secret is needed: type it, or send it to the input.')
}

async function typedUnseen(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return (await reader.question('')).trim()
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}

/** Throws unless somebody at a terminal says yes. */
export async function confirmed(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('Nobody can be asked here: say --yes.')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await reader.question(`${question} Type yes: `)
  reader.close()
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
}
