import { deflateSync, crc32 } from 'node:zlib'
import { requireModel } from './models'
import { SandboxImageRequest, parse } from './request'
import { countPromptTokens } from './text'

/** The longest side; longer ones are drawn as this. */
const maxSide = 2048
const usualSide = 1024

/** One piece of a PNG: its length, name, content and checksum. */
function toChunk(name: string, content: Buffer): Buffer {
  const namedContent = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(namedContent))
  return Buffer.concat([length, namedContent, checksum])
}

interface Drawing {
  width: number
  height: number
  /** Decides on the colours. */
  seed: number
}

/** Draws stripes in two colours as a PNG with a bit for each pixel, and says in it that it is simulated. */
export function drawPng({ width, height, seed }: Drawing): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // One bit a pixel, which is an index of the palette.
  head.set([1, 3, 0, 0, 0], 8)
  const rowBytes = 1 + Math.ceil(width / 8)
  const rows = Buffer.alloc(rowBytes * height)
  const stripes = [0xf0, 0x78, 0x3c, 0x1e, 0x0f, 0x87, 0xc3, 0xe1]
  for (let y = 0; y < height; y += 1) {
    rows.fill(stripes[(y >>> 3) % stripes.length] ?? 0, y * rowBytes + 1, (y + 1) * rowBytes)
  }
  const palette = Buffer.alloc(6)
  palette.writeUIntBE(seed & 0xffffff, 0, 3)
  palette.writeUIntBE(~seed & 0xffffff, 3, 3)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    toChunk('IHDR', head),
    toChunk('PLTE', palette),
    toChunk('tEXt', Buffer.from('Comment\0Simulated by the sandbox of Tollgate', 'latin1')),
    toChunk('IDAT', deflateSync(rows, { level: 1 })),
    toChunk('IEND', Buffer.alloc(0)),
  ])
}

const toSide = (side: string) => Math.min(maxSide, Math.max(1, Number(side)))

/** The sides of a requested size, within bounds. */
function toSides(size: string | null | undefined): Pick<Drawing, 'width' | 'height'> {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? []
  if (!width || !height) return { width: usualSide, height: usualSide }
  return { width: toSide(width), height: toSide(height) }
}

/** `POST /images/generations`, which draws variations too. Throws `Refusal`. */
export function answerImages(body: unknown): Response {
  const { model, prompt = '', n, size } = parse(SandboxImageRequest, body)
  requireModel(model, 'image')
  const { width, height } = toSides(size)
  const data = Array.from({ length: n ?? 1 }, (_, index) => ({
    b64_json: drawPng({ width, height, seed: crc32(`${index} ${prompt}`) }).toString('base64'),
    ...(prompt !== '' && { revised_prompt: `Simulated: ${prompt}` }),
  }))
  const tokens = countPromptTokens(prompt)
  const usage = {
    input_tokens: tokens,
    input_tokens_details: { text_tokens: tokens, image_tokens: 0 },
    output_tokens: 0,
    total_tokens: tokens,
  }
  return Response.json({
    created: Math.floor(Date.now() / 1000),
    size: `${width}x${height}`,
    quality: 'low',
    output_format: 'png',
    background: 'opaque',
    data,
    usage,
  })
}
