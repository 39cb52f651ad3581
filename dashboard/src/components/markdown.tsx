import { Anchor, Text, Typography } from '@mantine/core'
import Markdown, { type Components } from 'react-markdown'

/**
 * What a model may show: its HTML stays text, addresses are those of the web or of mail, and nothing is
 * loaded from elsewhere, as an address of a picture can carry away what was said.
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
      // Colour alone does not tell it from the words around it.
      style={{ textDecoration: 'underline' }}
    >
      {children}
    </Anchor>
  ),
  // It scrolls, also by keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  h1: 'h4',
  h2: 'h4',
  h3: 'h5',
  h4: 'h5',
}

/** Markdown of somebody who is not trusted. */
export const SafeMarkdown = ({ text }: { text: string }) => (
  <Typography fz="sm">
    <Markdown components={components}>{text}</Markdown>
  </Typography>
)
