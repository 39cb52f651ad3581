import { Button, Group, Paper, SimpleGrid, Stack, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api'
import { Page } from '../components/page'
import { useConversation } from '../conversation'
import { Options, plain, type OptionFields } from './playground-options'
import { Pane } from './playground-pane'
import { SavedPrompts } from './playground-prompts'
import { Talks } from './playground-talks'

const route = getRouteApi('/home/playground')

/** Something to talk to that costs nothing, for who has not chosen yet. */
const freeModelQuery = queryOptions({
  queryKey: ['models', 'free'],
  queryFn: async () => {
    const query = { category: 'chat', billing_mode: 'free', limit: '1' }
    const { models } = await (await api.models.$get({ query })).json()
    return models[0]?.id ?? ''
  },
  staleTime: Infinity,
})

type Place = ReturnType<typeof route.useSearch>

export function PlaygroundPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: free = '' } = useQuery(freeModelQuery)
  const [options, setOptions] = useState<OptionFields>(plain)
  const [areOptionsOpen, { toggle, open }] = useDisclosure()
  const [areTalksOpen, talks] = useDisclosure()
  const go = (place: Place) =>
    void navigate({ search: (old) => ({ ...old, ...place }), replace: true })
  const first = useConversation({
    id: search.chat,
    onBegun: (chat) => go({ chat }),
    onFound: ({ model, systemPrompt }) => {
      go({ model })
      setOptions((old) => ({ ...old, systemPrompt }))
    },
  })
  const second = useConversation({
    id: search.other_chat,
    onBegun: (chat) => go({ other_chat: chat }),
    onFound: ({ model }) => go({ other: model }),
  })
  const model = search.model ?? free
  const { other } = search
  const running = other === undefined ? [first] : [first, second]
  const isBusy = running.some((one) => one.isBusy)
  const send = (text: string) => {
    const { systemPrompt, temperature, maxTokens } = options
    const asked = {
      systemPrompt: systemPrompt.trim(),
      temperature: temperature === '' ? undefined : Number(temperature),
      max_tokens: maxTokens === '' ? undefined : Number(maxTokens),
    }
    void first.send(text, { model, ...asked })
    if (other !== undefined) void second.send(text, { model: other, ...asked })
  }
  const compare = () =>
    go(other === undefined ? { other: model } : { other: undefined, other_chat: undefined })
  return (
    <Page
      title="Playground"
      about="Talk to any model that you may call. Answers are paid for as those of the API are."
      actions={
        <Group gap="xs">
          <Button variant="default" onClick={talks.open}>
            Conversations
          </Button>
          <Button variant="default" onClick={compare} aria-pressed={other !== undefined}>
            {other === undefined ? 'Compare two' : 'Only one'}
          </Button>
          <Button variant="default" onClick={() => go({ chat: undefined, other_chat: undefined })}>
            New
          </Button>
        </Group>
      }
    >
      <SimpleGrid cols={{ base: 1, md: running.length }}>
        <Pane
          {...first}
          label={other === undefined ? 'Model' : 'First model'}
          model={model}
          onModel={(name) => go({ model: name || undefined })}
        />
        {other !== undefined && (
          <Pane
            {...second}
            label="Second model"
            model={other}
            onModel={(name) => go({ other: name || model })}
          />
        )}
      </SimpleGrid>
      <Composer
        isReady={model !== ''}
        isBusy={isBusy}
        onSend={send}
        onStop={() => running.forEach(({ stop }) => stop())}
        onOptions={toggle}
        areOptionsOpen={areOptionsOpen}
        onSystem={(systemPrompt) => {
          setOptions({ ...options, systemPrompt })
          open()
        }}
      />
      <Options isOpen={areOptionsOpen} options={options} onChange={setOptions} />
      {areTalksOpen && (
        <Talks
          openId={search.chat}
          onOpen={(chat) => go({ chat, other_chat: undefined, other: undefined })}
          onGone={() => go({ chat: undefined })}
          onClose={talks.close}
        />
      )}
    </Page>
  )
}

interface ComposerProps {
  isReady: boolean
  isBusy: boolean
  onSend: (text: string) => void
  onStop: () => void
  onSystem: (text: string) => void
  onOptions: () => void
  areOptionsOpen: boolean
}

function Composer(props: ComposerProps) {
  const { isReady, isBusy, onSend, onStop, onSystem, onOptions, areOptionsOpen } = props
  const [text, setText] = useState('')
  const [arePromptsOpen, prompts] = useDisclosure()
  const isEmpty = text.trim() === ''
  const send = () => {
    if (isEmpty || isBusy || !isReady) return
    onSend(text)
    setText('')
  }
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Textarea
          label="Message"
          description="Enter sends, Shift and Enter begin a new line."
          autosize
          minRows={2}
          maxRows={10}
          maxLength={100_000}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter that ends the choice of a character sends nothing.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            send()
          }}
        />
        <Group justify="space-between">
          <Group gap="xs">
            <Button variant="subtle" size="xs" onClick={onOptions} aria-expanded={areOptionsOpen}>
              Options
            </Button>
            <Button variant="subtle" size="xs" onClick={prompts.open}>
              Saved prompt
            </Button>
          </Group>
          {isBusy ? (
            <Button color="red" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button onClick={send} disabled={isEmpty || !isReady}>
              Send
            </Button>
          )}
        </Group>
      </Stack>
      {arePromptsOpen && (
        <SavedPrompts onMessage={setText} onSystem={onSystem} onClose={prompts.close} />
      )}
    </Paper>
  )
}
