import { Anchor, Text, Typography } from '@mantine/core'
import Markdown, { type Components } from 'react-markdown'

/**
 * The elements a model's Markdown may use: its HTML stays text, links are web or mail addresses, and
 * nothing is loaded from elsewhere, as the address of an image can carry away the conversation.
 */
const components: Components = {
  img: ({ alt }) => (
    <Text span inherit c="dimmed">
      [picture{alt ? `: ${alt}` : ''}]
    </Text>
  ),
  a: ({ href, children }) => (
    <Anchor
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      inherit
      // Colour alone does not distinguish a link from the text around it.
      style={{ textDecoration: 'underline' }}
    >
      {children}
    </Anchor>
  ),
  // Scrollable, also by keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  h1: 'h4',
  h2: 'h4',
  h3: 'h5',
  h4: 'h5',
}

/** Renders untrusted Markdown. */
export const SafeMarkdown = ({ text }: { text: string }) => (
  <Typography fz="sm">
    <Markdown components={components}>{text}</Markdown>
  </Typography>
)
