import {
  Button,
  Group,
  Loader,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  VisuallyHidden,
} from '@mantine/core'
import type { ReactNode } from 'react'
import { Page } from '../../components/page'
import { RequestFigures } from '../automation/request-figures'
import { ModelPicker } from '../models/model-picker'
import type { PlaygroundKind } from './kinds'
import type { MediaModel } from './use-media-model'

interface Outcome {
  isBusy: boolean
  requestId: string | null
  problem: string | undefined
  stop: () => void
}

interface Props {
  kind: PlaygroundKind
  /** The control of the kinds. */
  kinds: ReactNode
  model: MediaModel
  /** The fields of the request below the model. */
  fields: ReactNode
  /** The words of the button: `Create images`. */
  action: string
  isReady: boolean
  onSend: () => void
  /** The cost, where it is known before. */
  estimate: string | undefined
  outcome: Outcome
  /** The sentence for screen readers once there is a result. */
  announcement: string
  /** The place of a result that is not there yet. */
  empty: string
  /** The result; undefined where there is none. */
  children: ReactNode
}

/** A request to a model that answers at once, beside its result. */
export const MediaFrame = ({ kinds, ...props }: Props) => (
  <Page title="Playground" about="Try any available model. Requests are billed like API requests.">
    {kinds}
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <RequestForm {...props} />
      <Result {...props} />
    </SimpleGrid>
  </Page>
)

type PartProps = Omit<Props, 'kinds'>

const RequestForm = ({ kind, model, fields, action, ...props }: PartProps) => (
  <Paper
    withBorder
    p="md"
    miw={0}
    component="form"
    aria-label="Request"
    style={{ alignSelf: 'start' }}
    onSubmit={(event) => {
      event.preventDefault()
      if (props.isReady && !props.outcome.isBusy) props.onSend()
    }}
  >
    <Stack gap="sm">
      <ModelPicker label="Model" category={kind} model={model.model} onChange={model.select} />
      {model.hasNone && (
        <Text size="sm" c="dimmed">
          You can call no model of this kind yet. Add a connection to a provider that has one.
        </Text>
      )}
      {fields}
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {model.known?.is_free ? 'Free' : props.estimate}
        </Text>
        {props.outcome.isBusy ? (
          // Another element than that which submits, which it would else become during the click.
          <Button key="stop" color="red" onClick={props.outcome.stop}>
            Stop
          </Button>
        ) : (
          <Button key="send" type="submit" disabled={!props.isReady}>
            {action}
          </Button>
        )}
      </Group>
    </Stack>
  </Paper>
)

const Result = ({ outcome, announcement, empty, children }: PartProps) => {
  const { isBusy, problem, requestId } = outcome
  return (
    <Paper
      withBorder
      p="md"
      miw={0}
      mih={children || problem !== undefined ? undefined : 240}
      component="section"
      aria-label="Result"
      aria-busy={isBusy}
    >
      <VisuallyHidden role="status">{isBusy ? 'Working…' : announcement}</VisuallyHidden>
      <Stack gap="sm" h="100%">
        {isBusy && (
          <Group flex={1} justify="center" mih={200}>
            <Loader type="dots" role="img" aria-label="Response in progress" />
          </Group>
        )}
        {!isBusy && problem === undefined && !children && (
          <Group flex={1} justify="center" mih={200}>
            <Text size="sm" c="dimmed" ta="center">
              {empty}
            </Text>
          </Group>
        )}
        {problem !== undefined && (
          <Text size="sm" c="red" role="alert">
            {problem}
          </Text>
        )}
        {children}
        {requestId && !isBusy && <RequestFigures requestId={requestId} />}
      </Stack>
    </Paper>
  )
}
