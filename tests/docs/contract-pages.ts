import { Glob } from 'bun'
import { join } from 'node:path'
import { root } from './pages'

/** A numbered section of the contract: `4.8`, or the page itself, `4`. */
export interface Section {
  number: string
  /** From the repository's root. */
  page: string
  text: string
}

/** The sections of docs/contract, each with the text up to the next heading. */
export async function readContract(): Promise<Section[]> {
  const found = await Array.fromAsync(new Glob('docs/contract/[0-9]*.md').scan({ cwd: root }))
  const pages = await Promise.all(
    found.map(async (page) => sectionsOf(page, await Bun.file(join(root, page)).text())),
  )
  return pages.flat()
}

function sectionsOf(page: string, text: string): Section[] {
  const heading = /^##? (\d+(?:\.\d+)?) .+$/gm
  const heads = [...text.matchAll(heading)]
  return heads.map(({ 1: number = '', index }, at) => ({
    number,
    page,
    text: text.slice(index, heads[at + 1]?.index),
  }))
}
