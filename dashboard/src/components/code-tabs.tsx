import { Button, Code, CopyButton, Group, Stack, Tabs } from '@mantine/core'

interface Props {
  /** Names and texts. */
  examples: readonly { name: string; text: string }[]
}

/** Code in several languages, each with a copy button. */
export const CodeTabs = ({ examples }: Props) => (
  <Tabs defaultValue={examples[0]?.name ?? null}>
    <Tabs.List>
      {examples.map(({ name }) => (
        <Tabs.Tab key={name} value={name}>
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {examples.map(({ name, text }) => (
      <Tabs.Panel key={name} value={name} pt="sm">
        <Copyable text={text} label={`${name} example`} />
      </Tabs.Panel>
    ))}
  </Tabs>
)

/** A block of code with a copy button. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <Stack gap="xs" w="100%">
    <Code block tabIndex={0}>
      {text}
    </Code>
    <Group>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" variant="light" onClick={copy} aria-label={`Copy the ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  </Stack>
)
