/** One file in wire form between the texts before it and the end of its form. */
export interface WireForm {
  type: string
  before: string
  after: string
}

const boundary = 'bench-boundary-7d1f'

/** Builds a form of texts, and one file after them whose bytes the caller puts in between. */
export function formOf(fields: Readonly<Record<string, string>>, fileName: string): WireForm {
  const texts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    before: `${texts.join('')}${head}content-type: audio/wav\r\n\r\n`,
    after: `\r\n--${boundary}--\r\n`,
  }
}
