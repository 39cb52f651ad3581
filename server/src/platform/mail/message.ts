/** A mail as it is sent. */
export interface MailMessage {
  /** The same at each attempt, so that the receiver recognizes a second copy. */
  id: string
  recipient: string
  /** One line. */
  subject: string
  /** Plain text. */
  text: string
  date: Date
}

/** The content of a mail and its recipient. */
export interface MailContent {
  recipient: string
  subject: string
  body: string
  date: Date
}

const maxSubjectLength = 200

/** Removes characters that end a line or control a terminal. */
const oneLine = (text: string) =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, maxSubjectLength)

/** Whether a text is one address and nothing else: no second one, no name, nothing that ends a header. */
const isAddress = (text: string) =>
  /^[^\s\p{Cc},;:<>()[\]"\\@]+@[^\s\p{Cc},;:<>()"\\@]+$/u.test(text)

/**
 * Builds the mail to send; whatever its subject holds, it is one header. Throws for a recipient that is not an
 * address.
 */
export function toMessage(
  id: string,
  { recipient, subject, body, date }: MailContent,
): MailMessage {
  if (!isAddress(recipient)) throw new Error('the recipient is not an e-mail address')
  return { id, recipient, subject: oneLine(subject), text: body, date }
}
