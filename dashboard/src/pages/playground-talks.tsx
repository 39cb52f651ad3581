import { Button, Drawer, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { talks, talksKey, talksQuery, type Talk } from '../automation'
import { Confirm } from '../components/confirm'
import { Loaded } from '../components/loaded'
import { Moment } from '../components/moment'
import { counted, exactUsd } from '../figures'

interface Props {
  /** The id of the open conversation. */
  openId: string | undefined
  onOpen: (id: string) => void
  /** Called when the open conversation was deleted. */
  onGone: () => void
  onClose: () => void
}

/** Stored conversations, to continue or to delete. */
export function Talks({ openId, onOpen, onGone, onClose }: Props) {
  const query = useQuery(talksQuery)
  const queries = useQueryClient()
  const [doomed, setDoomed] = useState<Talk>()
  return (
    <Drawer opened onClose={onClose} title="Conversations" position="right">
      <Loaded query={query}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              Playground conversations are stored here until you delete them.
            </Text>
          ) : (
            <Stack gap="sm">
              {all.map((one) => (
                <Row
                  key={one.id}
                  talk={one}
                  onOpen={() => {
                    onOpen(one.id)
                    onClose()
                  }}
                  onDelete={() => setDoomed(one)}
                />
              ))}
            </Stack>
          )
        }
      </Loaded>
      {doomed && (
        <Confirm
          question="Delete this conversation?"
          about={`“${doomed.name ?? doomed.modelId}” and all its messages are deleted. Its cost stays in your logs.`}
          label="Delete"
          onConfirm={async () => {
            await talks.delete(doomed.id)
            if (doomed.id === openId) onGone()
            await queries.invalidateQueries({ queryKey: talksKey })
          }}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </Drawer>
  )
}

interface RowProps {
  talk: Talk
  onOpen: () => void
  onDelete: () => void
}

const Row = ({ talk, onOpen, onDelete }: RowProps) => (
  <Group justify="space-between" wrap="nowrap" gap="xs">
    <UnstyledButton onClick={onOpen} miw={0}>
      <Text size="sm" fw={500} truncate>
        {talk.name ?? 'Untitled'}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        {talk.modelId} · {counted(talk.messageCount, 'message')} · {exactUsd(talk.totalCost)} ·{' '}
        <Moment at={talk.lastActivityAt ?? talk.createdAt} />
      </Text>
    </UnstyledButton>
    <Button
      size="xs"
      variant="subtle"
      color="red"
      style={{ flexShrink: 0 }}
      onClick={onDelete}
      aria-label={`Delete ${talk.name ?? talk.modelId}`}
    >
      Delete
    </Button>
  </Group>
)
