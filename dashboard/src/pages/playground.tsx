import { Button, Group, Paper, SimpleGrid, Stack, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
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

/** What is asked of whom: one model, or two beside each other. */
function usePlayground() {
  const { model: chosen, other, chat, other_chat: otherChat } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: free = '' } = useQuery(freeModelQuery)
  const [options, setOptions] = useState<OptionFields>(plain)
  const go = (place: Place) =>
    void navigate({ search: (old) => ({ ...old, ...place }), replace: true })
  const model = chosen ?? free
  const first = useConversation({
    id: chat,
    onBegun: (id) => go({ chat: id }),
    onFound: (asked) => {
      go({ model: asked.model })
      setOptions((old) => ({ ...old, systemPrompt: asked.systemPrompt }))
    },
  })
  const second = useConversation({
    id: otherChat,
    onBegun: (id) => go({ other_chat: id }),
    onFound: (asked) => go({ other: asked.model }),
  })
  const send = (text: string) => {
    const asked = askedOf(options)
    void first.send(text, { model, ...asked })
    if (other !== undefined) void second.send(text, { model: other, ...asked })
  }
  return { go, model, other, chat, first, second, send, options, setOptions }
}

const numberOf = (field: number | string) => (field === '' ? undefined : Number(field))

const askedOf = ({ systemPrompt, temperature, maxTokens }: OptionFields) => ({
  systemPrompt: systemPrompt.trim(),
  temperature: numberOf(temperature),
  max_tokens: numberOf(maxTokens),
})

export function PlaygroundPage() {
  const { go, model, other, chat, first, second, send, options, setOptions } = usePlayground()
  const [areOptionsOpen, { toggle, open }] = useDisclosure()
  const isComparing = other !== undefined
  const running = isComparing ? [first, second] : [first]
  return (
    <Page
      title="Playground"
      about="Talk to any model that you may call. Answers are paid for as those of the API are."
      actions={<Actions isComparing={isComparing} model={model} chat={chat} go={go} />}
    >
      <SimpleGrid cols={{ base: 1, md: running.length }}>
        <Pane
          {...first}
          label={isComparing ? 'First model' : 'Model'}
          model={model}
          onModel={(name) => go({ model: name || undefined })}
        />
        {isComparing && (
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
        isBusy={running.some(({ isBusy }) => isBusy)}
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
    </Page>
  )
}

interface ActionsProps {
  isComparing: boolean
  model: string
  chat: string | undefined
  go: (place: Place) => void
}

const alone: Place = { other: undefined, other_chat: undefined }

function Actions({ isComparing, model, chat, go }: ActionsProps) {
  const [areTalksOpen, talks] = useDisclosure()
  return (
    <Group gap="xs">
      <Button variant="default" onClick={talks.open}>
        Conversations
      </Button>
      <Button
        variant="default"
        disabled={model === ''}
        onClick={() => go(isComparing ? alone : { other: model })}
      >
        {isComparing ? 'Only one' : 'Compare two'}
      </Button>
      <Button variant="default" onClick={() => go({ chat: undefined, other_chat: undefined })}>
        New
      </Button>
      {areTalksOpen && (
        <Talks
          openId={chat}
          onOpen={(id) => go({ ...alone, chat: id })}
          onGone={() => go({ chat: undefined })}
          onClose={talks.close}
        />
      )}
    </Group>
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
  // Another page may have brought what is to be said: it is too long for an address.
  const brought = useLocation({ select: ({ state }) => state.message })
  const [text, setText] = useState(brought ?? '')
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
