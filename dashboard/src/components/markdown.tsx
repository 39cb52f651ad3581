import { Anchor, Box, Button, Text, Typography } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useRef, type ReactNode } from 'react'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'

/** A block of code with a button that copies it; scrollable, also by keyboard. */
function CodeBlock({ children }: { children?: ReactNode }) {
  const block = useRef<HTMLPreElement>(null)
  const { copy, copied } = useClipboard()
  return (
    <Box pos="relative">
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
      <Button
        size="compact-xs"
        variant="default"
        pos="absolute"
        top={6}
        right={6}
        onClick={() => copy(block.current?.textContent ?? '')}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </Box>
  )
}

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
  a: ({ href, children }) =>
    // Footnotes link within the message, where the router would take the address for a page's.
    href?.startsWith('#') ? (
      <>{children}</>
    ) : (
      <Anchor
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        inherit
        // Color alone does not distinguish a link from the text around it.
        style={{ textDecoration: 'underline' }}
      >
        {children}
      </Anchor>
    ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  // Scrollable, also by keyboard.
  table: ({ children }) => (
    <Box style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Table" mb="sm">
      <table>{children}</table>
    </Box>
  ),
  // The box of a task in a list.
  input: ({ checked }) => (
    <span role="img" aria-label={checked ? 'done' : 'open'}>
      {checked ? '☑' : '☐'}
    </span>
  ),
  h1: 'h4',
  h2: 'h4',
  h3: 'h5',
  h4: 'h5',
}

const plugins = [remarkGfm]

/** Renders untrusted Markdown, with the tables, tasks and links of GitHub's. */
export const SafeMarkdown = ({ text }: { text: string }) => (
  <Typography fz="sm" className="markdown">
    <Markdown components={components} remarkPlugins={plugins}>
      {text}
    </Markdown>
  </Typography>
)
