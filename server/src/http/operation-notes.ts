/**
 * Notes on operations beyond their summaries: operation id -> words. The access and the body rules of each are
 * added (`describe-operations.ts`), so that one without a note has at least those.
 */
export const operationNotes: Readonly<Record<string, string>> = {
  createChatCompletion:
    'The format of OpenAI, for every chat model. With `stream` true the answer is server-sent events: chunks, then `data: [DONE]`; a failure after the first is one frame with `error`, without `[DONE]`. Fields that a provider does not know are left out where they only tune the answer, and named in `x-tollgate-omitted`; they are refused where they change its meaning. `x-tollgate-cost` says what a whole answer cost.',
  createCompletion:
    'The older format of OpenAI. Of chat models the prompt becomes one message; several prompts are several choices, `index` being prompt × `n` + choice.',
  createEmbedding:
    'Up to 2,048 texts, or tokens; they are divided for providers that take fewer. `base64` is little-endian 32-bit floats, whatever the provider gives.',
  createMessage:
    'The format of Anthropic, for every chat model: passed on as it came to connections of that format, translated for all others; fields that the answer is made without are named in `x-tollgate-omitted`. The base URL of its clients ends before `/v1`; the key may be sent as `x-api-key`.',
  countMessageTokens:
    'Asked of Anthropic where the request would be passed on, else an estimate. Costs nothing, and counts as a request.',
  createResponse:
    'Passed on as it came to providers of that format, translated for all others; fields that the answer is made without are named in `x-tollgate-omitted`. With `store` true the answer is kept for your account, and `previous_response_id` goes on from it with any model; `conversation` goes on from a conversation and adds to it. With `background` true the request is answered at once, and `GET /v1/responses/{id}` shows how far it has come.',
  getResponse:
    'Of your account only, whichever of its keys asked. Kept are answers whose request had `store` or `background` true. With `stream` true, the events of one that was asked for as a stream in the background, from any event on, up to an hour after its end.',
  deleteResponse:
    'At once, with the input of its request. Answers that went on from it stay, but nothing goes on from those.',
  cancelResponse:
    'Once: an answer that has ended stays as it is. What its provider bills of a request that is broken off is charged.',
  listResponseInputItems:
    'What the request itself sent, without what it went on from; the latest first. Items without an id get one.',
  createConversation:
    'With up to 20 items. Requests for responses name it in `conversation`; it goes when it was not used for long.',
  getConversation: 'Of your own account only. Its items have a list of their own.',
  updateConversation: 'All of `metadata` is replaced; without the field nothing is changed.',
  deleteConversation: 'At once, with its items. Answers that were kept besides stay.',
  listConversationItems:
    'Those that were added, and input and output of each request that named it; the latest first.',
  createConversationItems: 'All or none. An id that another of its items has is replaced.',
  getConversationItem: 'Texts of messages are shown as lists of parts, however they were sent.',
  deleteConversationItem: 'Answers with the conversation. Requests go on from what is left.',
  listModels: 'Not a promise that you may call them: that is judged by the call. Without pages.',
  getModel:
    'For clients of OpenAI. With a header `anthropic-version`, in the shape of Anthropic. `GET /api/models/{model_id}` has prices and capabilities.',
  listConnections:
    'Secrets are never shown. Of organizations, rates, prefix and last error are for owners and admins.',
  createConnection:
    'The secret is sealed before it is stored. The first connection of a provider is its default. With `scope` `organization` you must be owner or admin there, and your key needs `admin`. An address must be public, over https, at a listed port.',
  getConnection: 'One of yours, or of an organization in which you are active.',
  changeConnection:
    'Provider, kind and scope stay as they are. `status` `inactive` takes it out of use, `active` back in.',
  deleteConnection: 'Requests that run on it end as they would; new ones go elsewhere.',
  testConnection:
    'A test that fails is a success with `success` false and the reason in `message`. Sets `status` and the number of models. Models that it finds and the catalogue does not have can be called from then on.',
  updateConnectionKey: 'The old key is gone at once. The connection is `active` again.',
  listConnectionModels:
    'Models of the catalogue and those that only the connection has, by id; of a self-hosted gateway what it said last. `is_limited`: the owner has set a higher price than the operator allows by now.',
  setConnectionModelPrice:
    'Of a model that the catalogue does not have, from the next request on. `pricing` null makes it free. Prices are USD for 1,000,000 tokens, above zero and at most what the operator allows. Where members pay, they pay it, and your organization gets it less the fee. With an organization you must be owner or admin there, and your key needs `admin`.',
  listConnectionPools:
    'A pool stands in the order of candidates where the first of its connections would.',
  createConnectionPool: 'All connections must be of one provider and one owner.',
  getConnectionPool: 'One of yours, or of an organization in which you are active.',
  changeConnectionPool: 'Provider and scope stay as they are.',
  deleteConnectionPool: 'Its connections are asked in their own order again.',
  listGateways:
    '`offline` is one whose socket is closed, or that has said nothing for a minute. Its models and tools are what it last said itself.',
  createGateway:
    'The gateway shows the token at `connect_url`, where it opens a WebSocket with the subprotocol `tollgate.gateway.1`. What it serves can be called once it has said so: its first word makes a connection for each of its providers.',
  deleteGateway:
    'Its socket is closed within a second. Its connections stay, `inactive`, and cannot be used again.',
  listOwnInvitations: 'Those for your address, if it is confirmed.',
  acceptInvitation:
    'Only for the address that was invited. Refused where the organization is full, or the 7 days are over.',
  declineInvitation: 'Only for the address that was invited.',
  inviteMember:
    'Owners invite everybody below themselves, admins everybody below admins. A mail goes out, and a notification where the address has an account; 20 a day.',
  inviteMembers:
    'Up to 100. `errors` has those that failed, by `index`; where all fail the answer is 400.',
  listInvitations: 'For owners and admins.',
  resendInvitation: 'For owners and admins; counts as one of the 20 mails a day.',
  revokeInvitation: 'For owners and admins. One that was answered cannot be taken back.',
  listOrganizations: 'With your role and whether you are active there.',
  createOrganization:
    'You become its owner, and can own one. Without `slug` it is made from the name.',
  getOrganization: 'Its credit is shown to owners and admins.',
  changeOrganization: 'Rates can be as high as its plan has them.',
  deleteOrganization:
    'Its connections go with it. Refused while its pool is not empty or requests run on it.',
  joinOrganization:
    'You wait until somebody approves, unless it approves by itself. It must be public and take requests.',
  listMembers: 'Addresses and spending are shown to owners, admins, and of yourself.',
  changeMember:
    'Nobody gives a role above his own. `role` `owner`, by the owner, hands the organization over; he becomes admin.',
  removeMember: 'The owner cannot leave. What the organization pays for the member ends at once.',
  getOrganizationUsage:
    'Owners, admins and developers see everybody, others themselves. The last 30 days unless told otherwise.',
  getOrganizationAuditTrail:
    'For 25 months. `action` takes an action, or a kind of thing such as `member` for all that can become of it.',
  listModelCollections: 'Called as `collection/<name>`.',
  createModelCollection:
    'Up to 200 members, each with `priority` and `weight`; `routing_strategy` says which is asked first, the others are there if it fails.',
  changeModelCollection: 'Scope stays as it is. Those of the system are for operators.',
  deleteModelCollection: 'Calls by its name are 404 from then on.',
  addModelCollectionMembers: 'All of them, or none. Without `priority` behind the last.',
  listModelMappings: 'Exact names first, then patterns by `priority`, by length, by age.',
  createModelMapping:
    'Holds for your calls only. `*` stands for any run of characters, `$1` to `$5` in the target for what it stood for. What a mapping leads to is not mapped again.',
  previewModelMapping:
    '`reason` is the code of the error that a call would get. `mapping`, not stored yet, is tried first.',
  changeModelMapping: 'Holds for calls from the next one on.',
  deleteModelMapping: 'Holds for calls from the next one on.',
  getHandle: '`<handle>/<provider>/<model>` asks your own connections only.',
  setHandle:
    '3 to 30 of `a-z`, `0-9` and hyphens. Shares its names with organizations and providers.',
  listRequestLogs:
    'Without prompts and answers. `model` is the one that served, `requested_model` what you wrote. Kept as long as the operator says, 30 days usually.',
  getRequestLogStats:
    'Takes the filters of the list. `success_rate` is of those that succeeded or failed.',
  getRequestLog: 'Also there when the request was refused.',
  getRequestLogDetails:
    '`resolution_attempts` has who was asked, in order, and who was passed over and why. Bodies are there where operator and account want them kept, without what looks like a secret.',
  getSettings: 'Plan, who pays, and what is recharged.',
  changeSettings:
    '`funding_source` `organization` has an organization pay for you, where you are an active member and no viewer. `auto_recharge` needs a saved payment method.',
  getBalance:
    '`available_balance` is `balance` without what running requests hold, on all nodes; some seconds old. Of an organization for its owner and admins.',
  listTransactions:
    "One of `usage` may stand for several requests of the same moment: each one's own charge is in its log.",
  getBillingMetrics:
    'Up to 366 days, by the hour up to 31. Spans without requests are there with zeroes.',
  createCheckout:
    'Send whoever pays to `url`. Credit is there when the processor has confirmed the payment, once. Addresses to return to must be of this service, or allowed by the operator.',
  listAlerts: 'What triggered each is on the alert itself.',
  createAlert:
    'The unit of `threshold` depends on `type`: USD, percent or milliseconds. Looked at every minute.',
  getAlert: '`recent_triggers` has the last ten.',
  changeAlert: 'Type, threshold and period are judged together. A change of them begins anew.',
  deleteAlert: 'What it told stays in the inbox.',
  testAlert:
    '`channels` has those that were reached. Works on an alert that is off, and counts as no trigger.',
  acknowledgeAlertTrigger: 'Repeating it changes nothing.',
  listNotifications: '`unread_count` is of all, whatever the filter.',
  readAllNotifications: '`updated` is how many were unread.',
  readNotification: 'Repeating it changes nothing.',
  listKeys: 'Secrets are stored as hashes only: `key_prefix` is what can be shown.',
  createKey:
    'The secret is in `key`, in this answer only. Without `permissions` it may read and write. It cannot live longer than the key that asks.',
  rotateKey: 'Id, permissions, limits and expiry stay. The new secret is in this answer only.',
  deleteKey: 'Within a second on every node. Deleting the key that asks is allowed.',
  listRatings: '`summary` counts all of them.',
  rateModel: '1 to 5, and a review of 2,000 characters. One for each account and model.',
  deleteRating: '404 where you have none.',
  listOwnRatings: 'Newest first.',
  listFavorites: '`model` is null where it is gone from the catalogue.',
  addFavorite: 'Up to 1,000.',
  removeFavorite: '404 where it is none.',
  listCatalogue:
    '`billing_mode` is how a call of yours would be paid now; null where nobody would serve it to you. Prices are USD for 1,000,000 tokens.',
  getCatalogueModel: 'Context, output limit, capabilities and prices.',
  listPrompts: '`search` looks into title, content and description.',
  createPrompt: '`variables` are the names that stand in `{{name}}`. Up to 5,000.',
  bulkPrompts:
    'Up to 100. `errors` has those that failed, by `index`; where all fail the answer is 400. Deleting answers 200.',
  changePrompt: '`used: true` counts a use.',
  deletePrompt: 'It is gone for good.',
  getQuotaStatus:
    'Minutes as they stand at this moment, the month as it is booked. `limit` null means none.',
  getQuotaHistory:
    'Whole days in UTC. `percentage` is of the fullest limit on that day, by the limits of today.',
  listQuotaRequests: 'With what was decided, and why.',
  requestQuotaIncrease:
    'Waits for an operator; one for each type. You are told in the inbox and by mail.',
  estimateCost:
    'Give token counts, or the request as it would be sent. The price is that of the connection that would serve it.',
  listTickets: 'Without their comments.',
  createTicket: '`request_id` names one of your requests. Up to 20 open ones.',
  getTicket: 'Oldest comment first.',
  changeTicket: 'A closed one can be opened again for 30 days.',
  createTicketComment: 'A comment on a resolved ticket opens it again; a closed one takes none.',
  listAutomationSessions: 'Those that ended are forgotten some time after.',
  createAutomationSession:
    'Fields are `camelCase` below `/api/automation`. What the session does not say comes from its template, `{{name}}` replaced by `variables`.',
  getAutomationSession: '`totalTokens` and `totalCost` are of all its messages.',
  changeAutomationSession: 'Completed, cancelled and failed are final. Cancelling ends what runs.',
  deleteAutomationSession: 'What was used until then is charged.',
  completeAutomationSession: 'A message that runs is let end.',
  sendAutomationMessage:
    'The whole history goes to the model, with the limits, holds and prices of a chat completion. One message at a time. With `stream` true the answer is 200 and the chunks of `/v1/chat/completions`.',
  getAutomationConversation: 'The system prompt is on the session.',
  listAutomationTemplates: 'Of others the 500 newest public ones.',
  createAutomationTemplate:
    '`{{name}}` in prompt and first message is replaced when a session is made from it.',
  changeAutomationTemplate: 'Sessions that were made from it stay as they are.',
  deleteAutomationTemplate: 'Only your own.',
  listPublicProviders: '`status` is how the platform fared with each in the last five minutes.',
  getPublicConfiguration: 'Limits are those of the default plan.',
  getPublicBranding: 'What the operator set.',
  listPublicOrganizations: 'Without members and credit.',
  getPublicOrganization: '404 for one that does not show itself.',
  listInferenceServers: 'Figures are of the last 24 hours.',
  listProviderProfiles: '`rating` is the mean of what accounts gave its models.',
}
