"""The JSON objects of the API.

Generated from the OpenAPI document. Do not edit; change generate.py.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AnswerListenerBodyItem(TypedDict):
    attempt: int
    deliveryId: str
    durationMs: float
    error: NotRequired[str]
    status: NotRequired[int]


class AuditEntry(TypedDict):
    action: str
    actor: AuditEntryActor
    address: str
    at: str
    fields: list[str]
    id: str
    requestId: str
    resource: str


class AuditEntryActor(TypedDict):
    """A key, or a subject of an OIDC issuer. The subject `operator` is an admin of the workspace `default` who changed another workspace, or a command that changed the data folder directly."""

    key: NotRequired[str]
    name: str
    subject: NotRequired[str]


class BeginApplyBody(TypedDict):
    holder: str


class BeginApplyResponse(TypedDict):
    holder: str
    until: str


class ChangeConnectionBody(TypedDict):
    config: NotRequired[dict[str, Any]]
    connector: NotRequired[str]
    serviceName: NotRequired[str]


class ChangeDataFeedBody(TypedDict):
    auth: NotRequired[Any]
    columns: NotRequired[list[PickedColumn | FoundColumn] | None]
    deleted: NotRequired[Any]
    description: NotRequired[str | None]
    each: NotRequired[RestEach | None]
    errors: NotRequired[list[RestErrorsItem] | None]
    expect: NotRequired[NewExpect | None]
    expectEvery: NotRequired[str | None]
    fullEvery: NotRequired[str | None]
    incremental: NotRequired[RestIncremental | QueryIncremental | None]
    job: NotRequired[RestJob | None]
    keep: NotRequired[NewKeep | None]
    key: NotRequired[list[str] | None]
    mode: NotRequired[Literal['replace', 'append', 'merge'] | None]
    name: NotRequired[str]
    otherColumns: NotRequired[Literal['keep', 'drop'] | None]
    pagination: NotRequired[RestPagination | None]
    query: NotRequired[RowQuery]
    rateLimit: NotRequired[RestRateLimit | None]
    request: NotRequired[RestRequest]
    response: NotRequired[RestResponse | None]
    retry: NotRequired[RestRetry | None]
    rules: NotRequired[int | None]
    schedule: NotRequired[Schedule1 | Schedule2 | None]
    schemaPolicy: NotRequired[Literal['widen', 'freeze'] | None]
    serviceName: NotRequired[str]
    tableName: NotRequired[str]
    tls: NotRequired[RestTLS | None]
    viewName: NotRequired[str]


class ChangeSQLViewBody(TypedDict):
    name: NotRequired[str]
    sql: str


class ChangeSubscriptionBody(TypedDict):
    delivery: NotRequired[ChangeSubscriptionBodyDelivery | None]
    events: NotRequired[list[str]]
    filter: NotRequired[str | None]
    filters: NotRequired[ChangeSubscriptionBodyFilters | None]
    httpOperation: NotRequired[Literal['POST', 'GET'] | None]
    name: NotRequired[str | None]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text'] | None]
    state: NotRequired[Literal['active', 'paused', 'disabled']]
    transform: NotRequired[str | None]
    url: NotRequired[str]


class ChangeSubscriptionBodyDelivery(TypedDict):
    batch: NotRequired[ChangeSubscriptionBodyDeliveryBatch | None]
    concurrency: NotRequired[int | None]
    credentials: NotRequired[dict[str, str | None] | None]
    disableAfter: NotRequired[Literal['off'] | str | None]
    headers: NotRequired[dict[str, str | None] | None]
    oauth2: NotRequired[ChangeSubscriptionBodyDeliveryOauth2 | None]
    ordered: NotRequired[bool | None]
    rateLimit: NotRequired[ChangeSubscriptionBodyDeliveryRateLimit1 | int | None]
    retrySchedule: NotRequired[list[str] | None]
    timeout: NotRequired[str | None]
    tls: NotRequired[ChangeSubscriptionBodyDeliveryTls | None]


class ChangeSubscriptionBodyDeliveryBatch(TypedDict):
    maxEvents: int
    maxWait: NotRequired[str | None]


class ChangeSubscriptionBodyDeliveryOauth2(TypedDict):
    audience: NotRequired[str | None]
    clientId: str
    clientSecret: str
    scope: NotRequired[str | None]
    tokenUrl: str


class ChangeSubscriptionBodyDeliveryRateLimit1(TypedDict):
    per: NotRequired[str]
    requests: int


class ChangeSubscriptionBodyDeliveryTls(TypedDict):
    caCert: NotRequired[str | None]
    clientCert: NotRequired[str | None]
    clientKey: NotRequired[str | None]


class ChangeSubscriptionBodyFilters(TypedDict):
    resourceId: NotRequired[str | None]


class ChangeVersionBody(TypedDict):
    pinned: bool


class ChangeWorkspaceBody(TypedDict):
    externalId: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    name: NotRequired[str]
    quotas: NotRequired[Quotas]


class Chart(TypedDict):
    """An aggregate of the rows of a version for each group of them."""

    aggregate: Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']
    asOf: str
    format: str | None
    group: str
    groups: list[ChartGroupsItem]
    kind: Literal['bar', 'line', 'area']
    measure: str | None
    period: Literal['hour', 'day', 'week', 'month', 'quarter', 'year'] | None
    rowCount: int
    series: list[ChartSeriesItem]
    split: str | None
    timezone: str
    total: Any
    version: int


class ChartGroupsItem(TypedDict):
    incomplete: bool
    rows: int
    value: Any


class ChartSeriesItem(TypedDict):
    others: int
    value: Any
    values: list[Any]


class Check(TypedDict):
    before: int
    check: Literal['minRows', 'maxDrop', 'notNull', 'unique', 'expectEvery']
    column: str | None
    found: int
    missing: bool
    passed: bool | None
    results: list[CheckResultsItem]


class CheckResultsItem(TypedDict):
    at: str
    before: int
    found: int
    missing: bool
    passed: bool
    refreshId: str


class Checks(TypedDict):
    checks: list[Check]
    version: int | None


class CloudEvent(TypedDict):
    """A CloudEvent in the JSON format. Extension attributes are allowed but not stored."""

    data: NotRequired[Any]
    datacontenttype: NotRequired[str | None]
    dataschema: NotRequired[str | None]
    id: str
    source: str
    specversion: Literal['1.0']
    subject: NotRequired[str | None]
    time: NotRequired[str | None]
    type: str


class Column(TypedDict):
    description: str
    format: str | None
    hidden: bool
    id: str
    name: str
    nullable: bool
    retype: NotRequired[Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']]
    sourceName: str
    type: Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']


class ColumnChange(TypedDict):
    description: NotRequired[str | None]
    format: NotRequired[str | None]
    hidden: NotRequired[bool]
    id: str
    name: NotRequired[str]
    onMisfit: NotRequired[Literal['fail', 'null', 'reject'] | None]
    position: NotRequired[int]
    type: NotRequired[Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']]


class ColumnTrial(TypedDict):
    distinct: int
    distinctExact: bool
    examples: list[ColumnTrialExamplesItem]
    id: str
    misfits: int


class ColumnTrialExamplesItem(TypedDict):
    firstRow: int
    rows: int
    value: str


class ColumnTrials(TypedDict):
    """What the changes would do to the stored values. Only in the response to `dryRun=true`."""

    changes: list[ColumnTrial]
    rowCount: int
    version: int


class CompareDefinitionsBody(TypedDict):
    items: list[CompareDefinitionsBodyItemsItem]


class CompareDefinitionsBodyItemsItem(TypedDict):
    id: str
    secrets: str


class CompareDefinitionsResponseItem(TypedDict):
    id: str
    same: bool


class Connection(TypedDict):
    config: dict[str, Any]
    connector: str
    createdAt: str
    id: str
    serviceName: str
    updatedAt: str
    warnings: NotRequired[list[ConnectionWarningsItem]]


class ConnectionWarningsItem(TypedDict):
    code: Literal['unverified-tls']
    detail: str


class CreateKeyBody(TypedDict):
    expiresAt: NotRequired[str | None]
    name: str
    scopes: list[Literal['api:read', 'api:write', 'events:publish', 'admin']]
    workspaceId: NotRequired[str]


class CreateKeyResponse(TypedDict):
    createdAt: str
    expiresAt: str | None
    id: str
    key: str
    lastUsedAt: str | None
    name: str
    revokedAt: str | None
    scopes: list[Literal['api:read', 'api:write', 'events:publish', 'admin']]
    workspaceId: str


class CreateLinkBody(TypedDict):
    expiresAt: NotRequired[str | None]
    fields: NotRequired[list[str] | str | None]
    filter: NotRequired[list[str] | str | None]
    format: NotRequired[Literal['json', 'ndjson', 'csv', 'xlsx', 'parquet', 'arrow'] | None]
    name: NotRequired[str | None]


class CreateListenerBody(TypedDict):
    events: list[str]
    filters: NotRequired[CreateListenerBodyFilters | None]
    signingSecret: NotRequired[str | None]


class CreateListenerBodyFilters(TypedDict):
    resourceId: NotRequired[str | None]


class CreateListenerResponse(TypedDict):
    createdAt: str
    events: list[str]
    expiresAt: str
    filters: NotRequired[CreateListenerResponseFilters]
    id: str
    signingSecret: str


class CreateListenerResponseFilters(TypedDict):
    resourceId: str


class CreatePortalLinkBody(TypedDict):
    access: NotRequired[Literal['read', 'write'] | None]
    expiresIn: NotRequired[str | None]
    pages: NotRequired[list[Literal['subscriptions', 'events', 'feeds']] | None]
    returnUrl: NotRequired[str | None]


class CreateSQLViewBody(TypedDict):
    name: str
    sql: str


class CreateSessionBody(TypedDict):
    key: NotRequired[str]
    link: NotRequired[str]


class CreateSubscriptionBody(TypedDict):
    alert: NotRequired[bool | None]
    delivery: NotRequired[CreateSubscriptionBodyDelivery | None]
    events: list[str]
    filter: NotRequired[str | None]
    filters: NotRequired[CreateSubscriptionBodyFilters | None]
    httpOperation: NotRequired[Literal['POST', 'GET'] | None]
    name: NotRequired[str | None]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text'] | None]
    signingSecret: NotRequired[str | None]
    transform: NotRequired[str | None]
    url: str


class CreateSubscriptionBodyDelivery(TypedDict):
    batch: NotRequired[CreateSubscriptionBodyDeliveryBatch | None]
    concurrency: NotRequired[int | None]
    credentials: NotRequired[dict[str, str | None] | None]
    disableAfter: NotRequired[Literal['off'] | str | None]
    headers: NotRequired[dict[str, str | None] | None]
    oauth2: NotRequired[CreateSubscriptionBodyDeliveryOauth2 | None]
    ordered: NotRequired[bool | None]
    rateLimit: NotRequired[CreateSubscriptionBodyDeliveryRateLimit1 | int | None]
    retrySchedule: NotRequired[list[str] | None]
    timeout: NotRequired[str | None]
    tls: NotRequired[CreateSubscriptionBodyDeliveryTls | None]


class CreateSubscriptionBodyDeliveryBatch(TypedDict):
    maxEvents: int
    maxWait: NotRequired[str | None]


class CreateSubscriptionBodyDeliveryOauth2(TypedDict):
    audience: NotRequired[str | None]
    clientId: str
    clientSecret: str
    scope: NotRequired[str | None]
    tokenUrl: str


class CreateSubscriptionBodyDeliveryRateLimit1(TypedDict):
    per: NotRequired[str]
    requests: int


class CreateSubscriptionBodyDeliveryTls(TypedDict):
    caCert: NotRequired[str | None]
    clientCert: NotRequired[str | None]
    clientKey: NotRequired[str | None]


class CreateSubscriptionBodyFilters(TypedDict):
    resourceId: NotRequired[str | None]


class CreateSubscriptionPartial(TypedDict):
    created: list[CreateSubscriptionPartialCreatedItem]
    errors: list[CreateSubscriptionPartialErrorsItem]


class CreateSubscriptionPartialCreatedItem(TypedDict):
    events: list[str]
    id: str
    signingSecret: str
    url: str


class CreateSubscriptionPartialErrorsItem(TypedDict):
    events: list[str]
    message: str
    status: int


class CreateWorkspaceBody(TypedDict):
    externalId: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    name: str
    quotas: NotRequired[Quotas]


class CreationUrlResponse(TypedDict):
    expiresAt: str
    serviceName: str
    url: str


class DataFeed(TypedDict):
    byteSize: int
    columns: list[Column]
    contentHash: str
    createdAt: str
    description: str
    dryRun: NotRequired[ColumnTrials]
    expect: Expect | None
    expectEvery: str | None
    failures: int
    id: str
    keep: Keep
    key: list[str]
    lastError: FeedError | None
    lastRefresh: Refresh | None
    lastSuccessAt: str | None
    mode: Literal['replace', 'append', 'merge']
    name: str
    nextRefreshAt: str | None
    pausedReason: Literal['user', 'failures'] | None
    recentRefreshes: list[Literal['changed', 'unchanged', 'failed', 'running']]
    rowCount: int
    rules: int
    schedule: Schedule1 | Schedule2 | None
    schemaPolicy: Literal['widen', 'freeze']
    source: UploadSource | FeedSource2
    sourceLabel: str | None
    stale: bool
    state: Literal['pending', 'refreshing', 'ready', 'failed', 'paused', 'auth_required']
    table: NotRequired[Table]
    tableName: str | None
    type: Literal['dataUpload', 'queryBuilder', 'rest']
    updatedAt: str
    version: int
    warnings: list[Warning]


class DataLink(TypedDict):
    createdAt: str
    expiresAt: str | None
    fields: list[str]
    filter: list[str]
    format: str | None
    id: str
    lastUsedAt: str | None
    name: str
    url: NotRequired[str]
    uses: int


class Definition(TypedDict):
    definition: dict[str, Any]
    id: str
    kind: Literal['Connection', 'SQLView', 'Feed', 'Subscription']
    label: str
    name: str
    set: str | None


class Delivery(TypedDict):
    attemptCount: int
    createdAt: str
    endedAt: NotRequired[str]
    eventId: str
    id: str
    lastAttempt: NotRequired[DeliveryLastAttempt]
    maxAttempts: int
    nextAttemptAt: NotRequired[str]
    reason: NotRequired[str]
    resourceId: str | None
    state: Literal['pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'discarded']
    subscriptionId: str
    type: str


class DeliveryLastAttempt(TypedDict):
    """The last attempt, if there was one."""

    at: str
    durationMs: float
    error: str | None
    status: int | None


class Event(TypedDict):
    counts: dict[str, int]
    countsAtLeast: NotRequired[bool]
    data: Any
    fanOut: NotRequired[EventFanOut]
    id: str
    publisherId: NotRequired[str]
    resourceId: str | None
    size: int
    timestamp: str
    type: str


class EventFanOut(TypedDict):
    """The progress of a request that creates more than 10,000 deliveries, or whose filters are evaluated later. Present only while deliveries are still being created."""

    made: int
    state: Literal['making']


class EventRoute(TypedDict):
    """A delivery of the event."""

    id: str
    state: Literal['pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'discarded']
    subscriptionId: str


class Exchange(TypedDict):
    at: str
    body: NotRequired[str]
    bodyTruncated: NotRequired[bool]
    error: NotRequired[str]
    headers: list[ExchangeHeadersItem]
    headersTruncated: NotRequired[bool]
    status: NotRequired[int]
    timing: ExchangeTiming


class ExchangeHeadersItem(TypedDict):
    name: str
    value: str


class ExchangeTiming(TypedDict):
    """Durations in milliseconds. A phase that did not happen is 0, such as connecting when the connection was already open."""

    connectMs: float
    dnsMs: float
    firstByteMs: float
    tlsMs: float
    totalMs: float


class Expect(TypedDict):
    maxDrop: float | None
    minRows: int
    notNull: list[str]
    unique: list[str]


class FeedError(TypedDict):
    at: str
    detail: str
    source: SourceAnswer | None
    title: str
    type: str


class FeedProfile(TypedDict):
    columns: list[FeedProfileColumnsItem]
    rowCount: int
    version: int


class FeedProfileColumnsItem(TypedDict):
    distinct: int
    distinctExact: bool
    histogram: list[FeedProfileColumnsItemHistogramItem]
    id: str
    max: Any
    maxLength: int | None
    mean: float | None
    min: Any
    name: str
    nulls: int
    quantiles: FeedProfileColumnsItemQuantiles | None
    top: list[FeedProfileColumnsItemTopItem]
    type: str


FeedProfileColumnsItemHistogramItem = TypedDict(
    "FeedProfileColumnsItemHistogramItem",
    {
        "count": "int",
        "from": "Any",
        "to": "Any",
    },
)


class FeedProfileColumnsItemQuantiles(TypedDict):
    p25: Any
    p50: Any
    p75: Any


class FeedProfileColumnsItemTopItem(TypedDict):
    count: int
    value: Any


class FeedSource2(TypedDict):
    """A definition as in `RestFeed`."""

    request: dict[str, Any]


class FeedVersion(TypedDict):
    byteSize: int
    createdAt: str
    parents: list[FeedVersionParentsItem]
    pinned: bool
    refreshId: str | None
    rowCount: int
    rows: RowChanges | None
    upstream: list[FeedVersionUpstreamItem]
    version: int


class FeedVersionParentsItem(TypedDict):
    feedId: str
    version: int


class FeedVersionUpstreamItem(TypedDict):
    id: str
    version: int


class FileConfig(TypedDict):
    path: str
    statementTimeout: NotRequired[str]


class FilterValuesItem2(TypedDict):
    includeCurrent: NotRequired[bool]
    n: NotRequired[int]
    unit: Literal['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']


class Finding(TypedDict):
    by: Literal['found', 'assumed', 'set']
    value: str | int


class FoundColumn(TypedDict):
    """Changes to a column, which is selected by its name in the data. A definition applies them when the column is first found."""

    description: NotRequired[str | None]
    format: NotRequired[str | None]
    hidden: NotRequired[bool]
    name: NotRequired[str]
    onMisfit: NotRequired[Literal['fail', 'null', 'reject'] | None]
    position: NotRequired[int]
    sourceName: str
    type: NotRequired[Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']]


class FoundReading(TypedDict):
    """How the data was read, by the names of the reading parameters. It has only the parameters that apply to the format."""

    context: NotRequired[Finding]
    dates: NotRequired[Finding]
    decimal: NotRequired[Finding]
    delimiter: NotRequired[Finding]
    encoding: NotRequired[Finding]
    footer: NotRequired[Finding]
    header: NotRequired[Finding]
    nulls: NotRequired[Finding]
    path: NotRequired[Finding]
    quote: NotRequired[Finding]
    sheet: NotRequired[Finding]
    sheets: NotRequired[list[FoundReadingSheetsItem]]
    table: NotRequired[Finding]
    thousands: NotRequired[list[str]]
    timezone: NotRequired[Finding]


class FoundReadingSheetsItem(TypedDict):
    hidden: bool
    index: int
    name: str


class GetDeliveryResponse(TypedDict):
    attemptCount: int
    attempts: list[GetDeliveryResponseAttemptsItem]
    createdAt: str
    endedAt: NotRequired[str]
    eventId: str
    id: str
    lastAttempt: NotRequired[GetDeliveryResponseLastAttempt]
    maxAttempts: int
    newerId: NotRequired[str]
    nextAttemptAt: NotRequired[str]
    olderId: NotRequired[str]
    payload: NotRequired[str]
    plannedAttempts: list[str]
    reason: NotRequired[str]
    resourceId: str | None
    state: Literal['pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'discarded']
    subscriptionId: str
    type: str
    waitsFor: NotRequired[GetDeliveryResponseWaitsFor]


class GetDeliveryResponseAttemptsItem(TypedDict):
    at: str
    body: NotRequired[str]
    bodyTruncated: NotRequired[bool]
    error: NotRequired[str]
    headers: list[GetDeliveryResponseAttemptsItemHeadersItem]
    headersTruncated: NotRequired[bool]
    id: str
    number: int
    request: GetDeliveryResponseAttemptsItemRequest | None
    status: NotRequired[int]
    timing: GetDeliveryResponseAttemptsItemTiming


class GetDeliveryResponseAttemptsItemHeadersItem(TypedDict):
    name: str
    value: str


class GetDeliveryResponseAttemptsItemRequest(TypedDict):
    changedSince: bool
    headers: list[GetDeliveryResponseAttemptsItemRequestHeadersItem]
    method: NotRequired[Literal['GET', 'POST']]
    url: str


class GetDeliveryResponseAttemptsItemRequestHeadersItem(TypedDict):
    name: str
    value: str


class GetDeliveryResponseAttemptsItemTiming(TypedDict):
    """Durations in milliseconds. A phase that did not happen is 0, such as connecting when the connection was already open."""

    connectMs: float
    dnsMs: float
    firstByteMs: float
    tlsMs: float
    totalMs: float


class GetDeliveryResponseLastAttempt(TypedDict):
    """The last attempt, if there was one."""

    at: str
    durationMs: float
    error: str | None
    status: int | None


class GetDeliveryResponseWaitsFor(TypedDict):
    """What an open delivery waits for. Absent while an attempt is in flight."""

    deliveryId: NotRequired[str]
    reason: Literal['paused', 'breaker', 'order', 'time', 'turn']
    until: NotRequired[str]


class GetEventResponse(TypedDict):
    counts: dict[str, int]
    countsAtLeast: NotRequired[bool]
    data: Any
    deliveries: list[EventRoute]
    fanOut: NotRequired[GetEventResponseFanOut]
    filtered: NotRequired[GetEventResponseFiltered]
    id: str
    match: NotRequired[GetEventResponseMatch]
    publisherId: NotRequired[str]
    resourceId: str | None
    size: int
    timestamp: str
    type: str


class GetEventResponseFanOut(TypedDict):
    """The progress of a request that creates more than 10,000 deliveries, or whose filters are evaluated later. Present only while deliveries are still being created."""

    made: int
    state: Literal['making']


class GetEventResponseFiltered(TypedDict):
    """The subscriptions that did not get the event because it does not match their filter. Present only if there are any."""

    count: int
    subscriptionIds: list[str]


class GetEventResponseMatch(TypedDict):
    """Whether the event matches the requested subscription in its current state."""

    detail: str
    matches: bool
    reason: Literal['type', 'resource', 'createdLater', 'filter', 'filterError'] | None
    subscriptionId: str


class GroupFilter(TypedDict):
    """A filter on an aggregate. The type of the aggregate determines the operators and values, such as `integer` for a count."""

    caseSensitive: NotRequired[bool]
    fn: NotRequired[Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']]
    inverted: NotRequired[bool]
    op: str
    values: NotRequired[list[str | float | bool | None | FilterValuesItem2]]


class Health(TypedDict):
    files: NotRequired[Literal['ready', 'unavailable']]
    status: Literal['ok', 'ready']


class Keep(TypedDict):
    """Which versions are kept, in addition to the current one and pinned ones."""

    days: int
    versions: int


class Key(TypedDict):
    createdAt: str
    expiresAt: str | None
    id: str
    lastUsedAt: str | None
    name: str
    revokedAt: str | None
    scopes: list[Literal['api:read', 'api:write', 'events:publish', 'admin']]
    workspaceId: str


class Lineage(TypedDict):
    """What a feed is built from, and what is built from it."""

    feeds: list[LineageFeedsItem]
    reads: list[LineageReadsItem]
    truncated: bool


class LineageFeedsItem(TypedDict):
    deleted: bool
    id: str
    lastError: FeedError | None
    name: str
    schedule: Schedule1 | Schedule2 | None
    stale: bool
    state: str
    step: int
    type: str
    updatedAt: str | None
    version: int


class LineageReadsItem(TypedDict):
    behind: int
    read: str
    reader: str
    use: Literal['view', 'join', 'each']
    version: int | None


class ListEventTypesItem(TypedDict):
    description: str
    family: str
    name: str
    operational: bool
    schema: dict[str, Any]
    status: Literal['available', 'unavailable']
    subscribers: int
    volume24h: list[int | None]


class ListEventsItem(TypedDict):
    counts: dict[str, int]
    countsAtLeast: NotRequired[bool]
    data: Any
    deliveries: list[EventRoute]
    fanOut: NotRequired[ListEventsItemFanOut]
    id: str
    publisherId: NotRequired[str]
    resourceId: str | None
    size: int
    timestamp: str
    type: str


class ListEventsItemFanOut(TypedDict):
    """The progress of a request that creates more than 10,000 deliveries, or whose filters are evaluated later. Present only while deliveries are still being created."""

    made: int
    state: Literal['making']


class ListFieldsItem(TypedDict):
    aggregates: list[Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']]
    filterable: bool
    label: str
    name: str
    nativeType: str
    nullable: bool
    operators: list[str]
    primaryKey: bool
    pushdown: list[str]
    references: ListFieldsItemReferences | None
    samples: list[Any]
    type: Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']


class ListFieldsItemReferences(TypedDict):
    field: str
    view: str


class ListServicesItem(TypedDict):
    connector: str
    serviceName: str
    status: Literal['connected', 'notConfigured', 'personal']
    title: str


class ListViewsItem(TypedDict):
    description: str
    kind: Literal['table', 'view', 'materializedView', 'foreignTable', 'feed', 'sql']
    label: str
    matchedFields: NotRequired[list[str]]
    name: str
    rowEstimate: int | None


class Listener(TypedDict):
    createdAt: str
    events: list[str]
    expiresAt: str
    filters: NotRequired[ListenerFilters]
    id: str


class ListenerFilters(TypedDict):
    resourceId: str


class ListenerLine1(TypedDict):
    """A delivery to respond to."""

    attempt: int
    body: str
    deliveryId: str
    eventId: str
    headers: dict[str, str]
    kind: Literal['delivery']
    resourceId: NotRequired[str]
    test: NotRequired[Literal[True]]
    type: str


class ListenerLine2(TypedDict):
    """A heartbeat."""

    expiresAt: str
    kind: Literal['heartbeat']


class ListenerLine3(TypedDict):
    """The last line. `shutdown`: the server stops; reconnect. `replaced`: a newer connection replaced this one. `removed` and `expired`: the listener no longer exists. `credential`: the key was revoked, or the token has expired."""

    kind: Literal['end']
    reason: Literal['shutdown', 'replaced', 'removed', 'expired', 'credential']


class ManifestAuth(TypedDict):
    """Any kind of authentication of REST feeds, or `oauth2AuthorizationCode`, with which a user signs in."""

    authorizeUrl: NotRequired[str]
    issuer: NotRequired[str]
    kind: Literal['none', 'basic', 'bearer', 'apiKey', 'oauth2ClientCredentials', 'oauth2RefreshToken', 'jwtBearer', 'awsSigV4', 'login', 'digest', 'oauth1', 'hmac', 'oauth2AuthorizationCode']
    parameters: NotRequired[dict[str, str]]
    revokeUrl: NotRequired[str]
    scopes: NotRequired[list[str]]
    tokenUrl: NotRequired[str]


class ManifestField(TypedDict):
    added: NotRequired[bool]
    description: NotRequired[str]
    filters: NotRequired[ManifestFieldFilters]
    format: NotRequired[str]
    path: NotRequired[str]
    title: NotRequired[str]
    type: NotRequired[Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']]
    written: NotRequired[str]


ManifestFieldFilters = TypedDict(
    "ManifestFieldFilters",
    {
        "eq": "NotRequired[ManifestPass]",
        "from": "NotRequired[ManifestPass]",
        "to": "NotRequired[ManifestPass]",
    },
)


ManifestPass = TypedDict(
    "ManifestPass",
    {
        "default": "NotRequired[str]",
        "format": "NotRequired[Literal['rfc3339', 'date', 'unix', 'unixMs']]",
        "in": "NotRequired[Literal['query', 'headers', 'body', 'token']]",
        "param": "str",
        "separator": "NotRequired[str]",
        "values": "NotRequired[Any]",
    },
)


class ManifestRequest(TypedDict):
    body: NotRequired[dict[str, Any]]
    headers: NotRequired[dict[str, Any]]
    method: NotRequired[str]
    path: NotRequired[str]
    query: NotRequired[dict[str, Any]]
    timeout: NotRequired[str]
    url: NotRequired[str]


class ManifestView(TypedDict):
    auth: NotRequired[ManifestAuth]
    description: NotRequired[str]
    each: NotRequired[dict[str, Any]]
    errors: NotRequired[list[RestErrorsItem]]
    fields: dict[str, ManifestField | None]
    incremental: NotRequired[ManifestViewIncremental]
    job: NotRequired[dict[str, Any]]
    key: NotRequired[list[str]]
    pagination: NotRequired[RestPagination]
    rateLimit: NotRequired[RestRateLimit]
    request: NotRequired[ManifestRequest]
    response: NotRequired[RestResponse]
    retry: NotRequired[RestRetry]
    title: NotRequired[str]


class ManifestViewIncremental(TypedDict):
    field: str


class Me(TypedDict):
    allWorkspaces: bool
    key: NotRequired[str]
    name: str
    scopes: list[Literal['api:read', 'api:write', 'events:publish', 'admin']]
    session: MeSession | None
    subject: NotRequired[str]
    workspace: WorkspaceName


class MeEnvelope(TypedDict):
    data: Me
    meta: Meta


class MeSession(TypedDict):
    expiresAt: str
    idleUntil: str


class Meta(TypedDict):
    url: str


class MoveSessionBody(TypedDict):
    workspaceId: str


class MySQLConfig(TypedDict):
    caCert: NotRequired[str | None]
    clientCert: NotRequired[str | None]
    clientKey: NotRequired[str | None]
    connectTimeout: NotRequired[str | None]
    database: str
    host: str
    maxSessions: NotRequired[int | None]
    password: NotRequired[str | None]
    port: NotRequired[int | None]
    statementTimeout: NotRequired[str | None]
    tls: NotRequired[Literal['off', 'on', 'skipVerify'] | None]
    user: str


class NewConnection1(TypedDict):
    config: PostgresConfig
    connector: Literal['postgres']
    serviceName: str


class NewConnection2(TypedDict):
    config: MySQLConfig
    connector: Literal['mysql']
    serviceName: str


class NewConnection3(TypedDict):
    config: FileConfig
    connector: Literal['sqlite', 'duckdb']
    serviceName: str


class NewConnection4(TypedDict):
    config: dict[str, str]
    connector: str
    serviceName: str


class NewEvent(TypedDict):
    data: NotRequired[Any]
    id: NotRequired[str]
    resourceId: NotRequired[str | None]
    timestamp: NotRequired[str]
    type: str


class NewExpect(TypedDict):
    """Conditions for the rows of a new version. If the rows break one, a refresh fails and an upload returns 422. The previous version stays current. `accept=true` accepts the rows of one refresh or upload."""

    maxDrop: NotRequired[float | None]
    minRows: NotRequired[int | None]
    notNull: NotRequired[list[str] | None]
    unique: NotRequired[list[str] | None]


class NewKeep(TypedDict):
    """Which versions are kept, in addition to the current one and pinned ones: a number of newest versions, and all versions of a number of days. A member that is not set keeps no versions. Null means the default of 10 versions and 7 days."""

    days: NotRequired[int]
    versions: NotRequired[int]


class NewSubscription(TypedDict):
    alertId: NotRequired[str]
    confirmBy: NotRequired[str]
    createdAt: str
    delivery: NewSubscriptionDelivery
    disabledReason: NotRequired[Literal['user', 'gone', 'failing']]
    events: list[str]
    filter: NotRequired[str]
    filters: NotRequired[NewSubscriptionFilters]
    httpOperation: NotRequired[Literal['POST', 'GET']]
    id: str
    name: NotRequired[str]
    pausedReason: NotRequired[Literal['user', 'unconfirmed', 'unsubscribed']]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text']]
    signingSecret: str
    state: Literal['active', 'paused', 'disabled']
    transform: NotRequired[str]
    updatedAt: str
    url: str


class NewSubscriptionDelivery(TypedDict):
    batch: NotRequired[NewSubscriptionDeliveryBatch]
    concurrency: int
    credentials: NotRequired[dict[str, Literal['***']]]
    disableAfter: Literal['off'] | str
    headers: dict[str, Literal['***']]
    oauth2: NotRequired[NewSubscriptionDeliveryOauth2]
    ordered: bool
    rateLimit: NewSubscriptionDeliveryRateLimit | None
    retrySchedule: list[str]
    timeout: str
    tls: NotRequired[NewSubscriptionDeliveryTls]


class NewSubscriptionDeliveryBatch(TypedDict):
    """How events are sent as arrays. Absent if each event is sent alone."""

    maxEvents: int
    maxWait: str


class NewSubscriptionDeliveryOauth2(TypedDict):
    """The OAuth 2.0 client of a webhook, if it has one. The secret is not shown."""

    audience: NotRequired[str]
    clientId: str
    clientSecret: Literal['***']
    scope: NotRequired[str]
    tokenUrl: str


class NewSubscriptionDeliveryRateLimit(TypedDict):
    per: str
    requests: int


class NewSubscriptionDeliveryTls(TypedDict):
    """The certificates of a webhook, if it has any. The key is not shown."""

    caCert: NotRequired[str]
    clientCert: NotRequired[str]
    clientKey: NotRequired[Literal['***']]


class NewSubscriptionFilters(TypedDict):
    resourceId: str


class Operate(TypedDict):
    breakers: list[OperateBreakersItem]
    leases: list[OperateLeasesItem]
    replicas: list[OperateReplicasItem]
    scrub: OperateScrub
    series: list[OperateSeriesItem]
    stores: list[OperateStoresItem]


class OperateBreakersItem(TypedDict):
    endpoint: str
    held: int
    heldAtLeast: NotRequired[bool]
    lastError: str
    name: str
    probeAt: str
    since: str
    state: Literal['open', 'halfOpen']
    subscriptionId: str
    workspaceId: str


class OperateLeasesItem(TypedDict):
    count: int
    name: Literal['slots', 'refreshes', 'files', 'pins', 'move']
    owners: list[str]
    termSeconds: float


class OperateReplicasItem(TypedDict):
    cacheBytes: NotRequired[int]
    cacheMaxBytes: NotRequired[int]
    inFlight: int
    leaseAgeSeconds: float
    memoryBytes: int
    missingFiles: int
    name: str
    queued: int
    refreshes: int
    slots: int
    startedAt: str
    state: Literal['ready', 'draining', 'silent']
    version: str


class OperateScrub(TypedDict):
    """The stored files of versions, and how far they are verified."""

    bytes: int
    damaged: list[OperateScrubDamagedItem]
    deletingFiles: int
    files: int
    unreferencedBytes: int
    unreferencedFiles: int
    verifiedBytes: int
    verifiedFiles: int
    writingFiles: int


class OperateScrubDamagedItem(TypedDict):
    feedId: str
    file: str
    firstVersion: int
    lastVersion: int
    replica: str


class OperateSeriesItem(TypedDict):
    accepted: float
    at: str
    attempts: float
    bucket: NotRequired[OperateSeriesItemBucket]
    delivered: float
    failed: float
    inFlight: float
    oldestDueSeconds: float
    open: float
    refreshes: float
    scrubbedBytes: float


class OperateSeriesItemBucket(TypedDict):
    """The requests to the bucket and the caches of the replicas. Only if the files of feeds are in a bucket."""

    cacheHits: float
    cacheMisses: float
    errors: float
    evictedBytes: float
    p50Ms: NotRequired[float]
    p99Ms: NotRequired[float]
    readBytes: float
    requests: float
    writtenBytes: float


class OperateStoresItem(TypedDict):
    connections: NotRequired[int]
    engine: NotRequired[str]
    failedSince: NotRequired[str]
    freeBytes: NotRequired[int]
    latencyMs: float
    maxConnections: NotRequired[int]
    name: Literal['records', 'bucket', 'disk']
    p50Ms: NotRequired[float]
    p99Ms: NotRequired[float]
    replica: NotRequired[str]
    state: Literal['ready', 'failed']
    totalBytes: NotRequired[int]
    where: NotRequired[str]


class PickedColumn(TypedDict):
    """Selects a value below the record, and sets the name and type of its column."""

    description: NotRequired[str | None]
    format: NotRequired[str]
    hidden: NotRequired[bool]
    name: str
    onMisfit: NotRequired[Literal['fail', 'null', 'reject'] | None]
    path: str
    type: NotRequired[Literal['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json']]


class PortalLink(TypedDict):
    access: Literal['read', 'write']
    createdAt: str
    expiresAt: str
    id: str
    openedAt: str | None
    pages: list[Literal['subscriptions', 'events', 'feeds']]
    returnUrl: str | None
    state: Literal['unused', 'inUse', 'expired']
    url: NotRequired[str]


class PostgresConfig(TypedDict):
    caCert: NotRequired[str | None]
    clientCert: NotRequired[str | None]
    clientKey: NotRequired[str | None]
    connectTimeout: NotRequired[str | None]
    database: str
    host: str
    maxSessions: NotRequired[int | None]
    password: NotRequired[str | None]
    port: NotRequired[int | None]
    sslmode: NotRequired[Literal['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] | None]
    statementTimeout: NotRequired[str | None]
    user: str


class PreviewComparison(TypedDict):
    columns: PreviewComparisonColumns
    deleted: int | None
    inserted: int | None
    updated: int | None
    version: int


class PreviewComparisonColumns(TypedDict):
    added: list[str]
    changed: list[str]
    removed: list[str]


class PreviewDataFeedResponse(TypedDict):
    candidates: list[PreviewDataFeedResponseCandidatesItem]
    columns: list[Column]
    compare: PreviewComparison | None
    complete: bool
    handle: PreviewHandle | None
    rowCount: int
    rows: list[dict[str, Any]]
    source: UploadSource | FeedSource2
    trace: list[TracedRequest]
    warnings: list[Warning]


class PreviewDataFeedResponseCandidatesItem(TypedDict):
    count: int
    fields: list[str]
    path: str


class PreviewHandle(TypedDict):
    expiresAt: str
    id: str


class PreviewQueryResponse(TypedDict):
    bounds: list[PreviewQueryResponseBoundsItem]
    columns: list[Column]
    computed: list[PreviewQueryResponseComputedItem]
    durationMs: float
    filters: list[PreviewQueryResponseFiltersItem]
    groupedHere: bool
    parameters: list[str]
    requests: list[TracedRequest]
    rows: list[dict[str, Any]]
    sql: str
    warnings: list[Warning]


PreviewQueryResponseBoundsItem = TypedDict(
    "PreviewQueryResponseBoundsItem",
    {
        "field": "str",
        "from": "str",
        "op": "str",
        "to": "str",
    },
)


class PreviewQueryResponseComputedItem(TypedDict):
    name: str
    ranIn: Literal['source', 'here']
    reason: NotRequired[str]


class PreviewQueryResponseFiltersItem(TypedDict):
    field: str
    fn: NotRequired[Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']]
    inverted: bool
    op: str
    ranIn: Literal['source', 'here', 'both']


class PreviewSubscriptionBody(TypedDict):
    event: PreviewSubscriptionBodyEvent
    subscription: SubscriptionFields


class PreviewSubscriptionBodyEvent(TypedDict):
    data: NotRequired[Any]
    id: NotRequired[Any]
    resourceId: NotRequired[str | None]
    timestamp: NotRequired[str | None]
    type: str


class PreviewSubscriptionResponse(TypedDict):
    body: str | None
    contentType: str | None
    detail: str
    matches: bool
    reason: Literal['type', 'resource', 'filter', 'filterError', 'transformFailed'] | None


class Problem(TypedDict):
    creationUrl: NotRequired[str]
    detail: str
    errors: NotRequired[list[ProblemErrorsItem]]
    handle: NotRequired[PreviewHandle]
    instance: str
    requestId: NotRequired[str]
    source: NotRequired[SourceAnswer]
    status: int
    title: str
    trace: NotRequired[list[TracedRequest]]
    type: str


class ProblemErrorsItem(TypedDict):
    detail: str
    header: NotRequired[str]
    parameter: NotRequired[str]
    pointer: NotRequired[str]


class ProblemType(TypedDict):
    description: str
    fix: str
    title: str
    type: str


class PublishEventsResponse(TypedDict):
    accepted: list[PublishEventsResponseAcceptedItem]


class PublishEventsResponseAcceptedItem(TypedDict):
    duplicate: bool
    id: str
    publisherId: NotRequired[str]
    type: str


class QueryFeed(TypedDict):
    """A feed that is built from a query over a view of a service."""

    columns: NotRequired[list[FoundColumn]]
    description: NotRequired[str]
    expect: NotRequired[NewExpect | None]
    expectEvery: NotRequired[str | None]
    incremental: NotRequired[QueryIncremental]
    keep: NotRequired[NewKeep | None]
    key: NotRequired[list[str]]
    mode: NotRequired[Literal['replace', 'append', 'merge']]
    name: NotRequired[str]
    query: RowQuery
    rules: NotRequired[int]
    schedule: NotRequired[Schedule1 | Schedule2]
    schemaPolicy: NotRequired[Literal['widen', 'freeze'] | None]
    serviceName: str
    tableName: NotRequired[str]
    viewName: str


class QueryIncremental(TypedDict):
    """Fetches only rows whose value in a field is at least the greatest value that was fetched before. The mode is `merge` with a key, and otherwise `append`; `replace` returns 400. Rows that are fetched again are not stored twice."""

    field: str
    lookback: NotRequired[str]


QueryJoin = TypedDict(
    "QueryJoin",
    {
        "as": "str",
        "kind": "NotRequired[Literal['inner', 'left']]",
        "on": "list[QueryJoinOnItem]",
        "view": "str",
    },
)


class QueryJoinOnItem(TypedDict):
    left: str
    right: str


class Quotas(TypedDict):
    """The limits of the workspace. Null is the server's default. The limits of concurrent work apply to each server."""

    concurrentQueries: NotRequired[int | None]
    concurrentUploads: NotRequired[int | None]
    storedBytes: NotRequired[int | None]
    subscriptions: NotRequired[int | None]


class ReadSubscription(TypedDict):
    alertId: NotRequired[str]
    breaker: Literal['closed', 'open', 'halfOpen', 'unknown']
    confirmBy: NotRequired[str]
    createdAt: str
    delivery: ReadSubscriptionDelivery
    disabledReason: NotRequired[Literal['user', 'gone', 'failing']]
    disablingAt: NotRequired[str]
    events: list[str]
    filter: NotRequired[str]
    filters: NotRequired[ReadSubscriptionFilters]
    health: SubscriptionHealth
    httpOperation: NotRequired[Literal['POST', 'GET']]
    id: str
    lastSuccessAt: NotRequired[str]
    name: NotRequired[str]
    overlapUntil: NotRequired[str]
    pausedReason: NotRequired[Literal['user', 'unconfirmed', 'unsubscribed']]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text']]
    state: Literal['active', 'paused', 'disabled']
    transform: NotRequired[str]
    updatedAt: str
    url: str


class ReadSubscriptionDelivery(TypedDict):
    batch: NotRequired[ReadSubscriptionDeliveryBatch]
    concurrency: int
    credentials: NotRequired[dict[str, Literal['***']]]
    disableAfter: Literal['off'] | str
    headers: dict[str, Literal['***']]
    oauth2: NotRequired[ReadSubscriptionDeliveryOauth2]
    ordered: bool
    rateLimit: ReadSubscriptionDeliveryRateLimit | None
    retrySchedule: list[str]
    timeout: str
    tls: NotRequired[ReadSubscriptionDeliveryTls]


class ReadSubscriptionDeliveryBatch(TypedDict):
    """How events are sent as arrays. Absent if each event is sent alone."""

    maxEvents: int
    maxWait: str


class ReadSubscriptionDeliveryOauth2(TypedDict):
    """The OAuth 2.0 client of a webhook, if it has one. The secret is not shown."""

    audience: NotRequired[str]
    clientId: str
    clientSecret: Literal['***']
    scope: NotRequired[str]
    tokenUrl: str


class ReadSubscriptionDeliveryRateLimit(TypedDict):
    per: str
    requests: int


class ReadSubscriptionDeliveryTls(TypedDict):
    """The certificates of a webhook, if it has any. The key is not shown."""

    caCert: NotRequired[str]
    clientCert: NotRequired[str]
    clientKey: NotRequired[Literal['***']]


class ReadSubscriptionFilters(TypedDict):
    resourceId: str


class Refresh(TypedDict):
    """One attempt to get new data for a feed. If it succeeded, `rowsIn` is the sum of `rowsStored`, `rowsRejected`, `rowsSuperseded` and `rowsKnown`."""

    bytesIn: int
    durationMs: float | None
    endedAt: str | None
    error: FeedError | None
    id: str
    outcome: Literal['changed', 'unchanged'] | None
    pages: int
    parts: int | None
    partsDone: int | None
    progress: float | None
    requests: int
    rows: RowChanges | None
    rowsIn: int
    rowsKnown: int
    rowsRejected: int
    rowsStored: int
    rowsSuperseded: int
    stage: Literal['waiting', 'fetching', 'modelling', 'storing'] | None
    startedAt: str
    state: Literal['pending', 'running', 'succeeded', 'failed']
    trigger: str | None
    version: int | None
    warnings: list[Warning]


class Reject(TypedDict):
    column: str
    page: int | None
    raw: dict[str, Any]
    reason: str
    record: int
    value: str


class Replay(TypedDict):
    createdAt: str
    dryRun: NotRequired[bool]
    endedAt: NotRequired[str]
    id: str
    made: int
    rate: NotRequired[int]
    reason: NotRequired[str]
    selection: Literal['delivered', 'exhausted', 'discarded', 'undelivered', 'missing', 'all']
    since: str
    state: Literal['counting', 'running', 'done', 'cancelled']
    states: list[Literal['pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'discarded']]
    subscriptionId: str
    total: int | None
    until: str


class ReplayEnvelope(TypedDict):
    data: Replay
    meta: Meta


class ReplaySubscriptionBody(TypedDict):
    dryRun: NotRequired[bool]
    rate: NotRequired[int]
    since: str
    state: NotRequired[Literal['delivered', 'exhausted', 'discarded', 'undelivered', 'missing', 'all']]
    until: NotRequired[str]


class RestAuth1(TypedDict):
    kind: Literal['none']


class RestAuth10(TypedDict):
    """Digest authentication (RFC 7616), with MD5, SHA-256 or SHA-512-256."""

    kind: Literal['digest']
    password: str
    username: str


class RestAuth11(TypedDict):
    """Requests are signed with HMAC-SHA1 (OAuth 1.0, RFC 5849). `token` and `tokenSecret` require each other. Without them, requests are signed for the client itself."""

    consumerKey: str
    consumerSecret: str
    kind: Literal['oauth1']
    token: NotRequired[str]
    tokenSecret: NotRequired[str]


class RestAuth2(TypedDict):
    kind: Literal['basic']
    password: str
    username: str


class RestAuth3(TypedDict):
    kind: Literal['bearer']
    token: str


RestAuth4 = TypedDict(
    "RestAuth4",
    {
        "in": "NotRequired[Literal['header', 'query', 'cookie']]",
        "kind": "Literal['apiKey']",
        "name": "str",
        "value": "str",
    },
)


class RestAuth5(TypedDict):
    audience: NotRequired[str]
    clientId: str
    clientSecret: str
    kind: Literal['oauth2ClientCredentials']
    parameters: NotRequired[dict[str, str | float | bool | RestSecret | list[str | float | bool | RestSecret]]]
    placement: NotRequired[Literal['basic', 'body']]
    scope: NotRequired[str]
    tokenUrl: str


class RestAuth6(TypedDict):
    """A client with a refresh token from a user sign-in. If the source returns a new refresh token, it is stored immediately."""

    clientId: str
    clientSecret: NotRequired[str]
    kind: Literal['oauth2RefreshToken']
    refreshToken: str
    scope: NotRequired[str]
    tokenUrl: str


class RestAuth7(TypedDict):
    """A service account that gets tokens for a signed JWT (RFC 7523)."""

    audience: NotRequired[str]
    issuer: str
    keyId: NotRequired[str]
    kind: Literal['jwtBearer']
    privateKey: str
    scope: NotRequired[str]
    subject: NotRequired[str]
    tokenUrl: str


class RestAuth8(TypedDict):
    """An AWS access key (Signature Version 4)."""

    accessKeyId: str
    kind: Literal['awsSigV4']
    region: str
    secretAccessKey: str
    service: str
    sessionToken: NotRequired[str]


RestEach = TypedDict(
    "RestEach",
    {
        "as": "str",
        "in": "Any",
        "include": "NotRequired[list[str]]",
    },
)


class RestErrorsItem(TypedDict):
    action: Literal['ignore', 'fail', 'retry']
    bodyPath: NotRequired[str]
    equals: NotRequired[str | float | bool | None]
    exists: NotRequired[bool]
    notEquals: NotRequired[str | float | bool | None]
    status: NotRequired[list[int]]


class RestFeed(TypedDict):
    """How a feed fetches its data from a REST API. Only `request.url` is required. Secrets are write-only."""

    auth: NotRequired[Any]
    columns: NotRequired[list[PickedColumn | FoundColumn]]
    deleted: NotRequired[Any]
    description: NotRequired[str]
    each: NotRequired[RestEach]
    errors: NotRequired[list[RestErrorsItem]]
    expect: NotRequired[NewExpect | None]
    expectEvery: NotRequired[str | None]
    fullEvery: NotRequired[str]
    incremental: NotRequired[RestIncremental]
    job: NotRequired[RestJob]
    keep: NotRequired[NewKeep | None]
    key: NotRequired[list[str]]
    mode: NotRequired[Literal['replace', 'append', 'merge']]
    name: NotRequired[str]
    otherColumns: NotRequired[Literal['keep', 'drop']]
    pagination: NotRequired[RestPagination]
    rateLimit: NotRequired[RestRateLimit]
    request: RestRequest
    response: NotRequired[RestResponse]
    retry: NotRequired[RestRetry]
    rules: NotRequired[int]
    schedule: NotRequired[Schedule1 | Schedule2]
    schemaPolicy: NotRequired[Literal['widen', 'freeze'] | None]
    tableName: NotRequired[str]
    tls: NotRequired[RestTLS]


class RestIncremental(TypedDict):
    """Fetches only what is new since the last fetch. The cursor is stored together with the version that has its data."""

    cursorPath: NotRequired[str]
    format: NotRequired[str]
    inclusive: NotRequired[bool]
    lookback: NotRequired[str]
    param: NotRequired[RestIncrementalParam]
    start: NotRequired[str | float]
    step: NotRequired[str]
    timezone: NotRequired[str]
    to: NotRequired[RestIncrementalTo]


RestIncrementalParam = TypedDict(
    "RestIncrementalParam",
    {
        "in": "NotRequired[Literal['query', 'header', 'body']]",
        "name": "str",
    },
)


RestIncrementalTo = TypedDict(
    "RestIncrementalTo",
    {
        "in": "NotRequired[Literal['query', 'header', 'body']]",
        "name": "str",
    },
)


class RestJob(TypedDict):
    """A report that the source creates on request. The request submits the job. Feedmill polls it until its state is one of `done`, and then reads its result."""

    done: list[str | float | bool]
    every: NotRequired[str]
    failed: NotRequired[list[str | float | bool]]
    id: str
    maxWait: NotRequired[str]
    poll: RestRequest
    result: NotRequired[str]
    state: str


RestPagination = TypedDict(
    "RestPagination",
    {
        "end": "NotRequired[str | RestSignal2]",
        "in": "NotRequired[Literal['query', 'header', 'body']]",
        "kind": "Literal['none', 'nextUrl', 'linkHeader', 'cursor', 'offset', 'page', 'range']",
        "maxBytes": "NotRequired[int]",
        "maxPages": "NotRequired[int]",
        "more": "NotRequired[str | RestSignal2]",
        "param": "NotRequired[str]",
        "path": "NotRequired[str | RestPaginationPath2 | RestPaginationPath3]",
        "size": "NotRequired[int]",
        "sizeParam": "NotRequired[str]",
        "start": "NotRequired[int]",
        "total": "NotRequired[str | RestSignal2]",
        "totalPages": "NotRequired[str | RestSignal2]",
    },
)


class RestPaginationPath2(TypedDict):
    header: str


class RestPaginationPath3(TypedDict):
    xml: str


class RestRateLimit(TypedDict):
    per: str
    requests: int


class RestRequest(TypedDict):
    """The request to the source. Tokens such as `{{today}}`, `{{today-7d|2006-01-02}}` and `{{cursor}}` are replaced at every fetch. They are allowed in the path and query of the URL, in `query` and in the body. Write the URL, or any value of the query, the headers or the body, as `{"secret": "…"}` to encrypt it. It is then never shown."""

    body: NotRequired[RestRequestBody]
    headers: NotRequired[dict[str, str | float | bool | RestSecret]]
    method: NotRequired[Literal['GET', 'POST', 'PUT']]
    query: NotRequired[dict[str, str | float | bool | RestSecret | list[str | float | bool | RestSecret]]]
    timeout: NotRequired[str]
    url: str | RestSecret


class RestRequestBody(TypedDict):
    kind: Literal['json', 'form', 'text', 'graphql']
    query: NotRequired[str]
    value: NotRequired[Any]
    variables: NotRequired[dict[str, Any]]


class RestResponse(TypedDict):
    """How a response is read."""

    context: NotRequired[bool | str]
    dates: NotRequired[str]
    decimal: NotRequired[str]
    delimiter: NotRequired[str]
    encoding: NotRequired[str]
    entry: NotRequired[str]
    explode: NotRequired[str | RestResponseExplode2]
    fileColumn: NotRequired[str]
    footer: NotRequired[Literal['keep', 'drop']]
    format: NotRequired[Literal['auto', 'csv', 'tsv', 'json', 'ndjson', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'xml', 'parquet', 'arrow']]
    header: NotRequired[str | int]
    keyAs: NotRequired[str]
    missing: NotRequired[Literal['fail', 'empty']]
    names: NotRequired[list[str]]
    nulls: NotRequired[str]
    path: NotRequired[str]
    quote: NotRequired[str]
    sheet: NotRequired[int]
    table: NotRequired[str | int]
    timezone: NotRequired[str]
    types: NotRequired[Literal['auto', 'text']]
    values: NotRequired[list[str]]


RestResponseExplode2 = TypedDict(
    "RestResponseExplode2",
    {
        "as": "list[str]",
        "path": "str",
    },
)


class RestRetry(TypedDict):
    maxAttempts: NotRequired[int]


class RestSecret(TypedDict):
    """A value that is encrypted and never shown. Responses contain `***` instead."""

    secret: str | float | bool


class RestSignal2(TypedDict):
    header: str


class RestTLS(TypedDict):
    """Certificates for the hosts in the definition. All of them must use https. The client certificate is not sent to hosts that only a response names."""

    caCert: NotRequired[str]
    clientCert: NotRequired[str]
    clientKey: NotRequired[str]


class RetriedDeliveries(TypedDict):
    next: NotRequired[str]
    refused: list[RetriedDeliveriesRefusedItem]
    retried: int


class RetriedDeliveriesRefusedItem(TypedDict):
    deliveryId: str
    detail: str


class RetrySubscriptionResponse(TypedDict):
    due: int


class RetryUndeliveredBody1(TypedDict):
    deliveryIds: list[str]


class RetryUndeliveredBody2(TypedDict):
    before: NotRequired[str]
    error: NotRequired[str]
    state: NotRequired[Literal['exhausted', 'discarded']]
    subscriptionId: str


class RotateSecretBody(TypedDict):
    overlap: NotRequired[str]


class RotateSecretResponse(TypedDict):
    alertId: NotRequired[str]
    confirmBy: NotRequired[str]
    createdAt: str
    delivery: RotateSecretResponseDelivery
    disabledReason: NotRequired[Literal['user', 'gone', 'failing']]
    events: list[str]
    filter: NotRequired[str]
    filters: NotRequired[RotateSecretResponseFilters]
    httpOperation: NotRequired[Literal['POST', 'GET']]
    id: str
    name: NotRequired[str]
    overlapUntil: NotRequired[str]
    pausedReason: NotRequired[Literal['user', 'unconfirmed', 'unsubscribed']]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text']]
    signingSecret: str
    state: Literal['active', 'paused', 'disabled']
    transform: NotRequired[str]
    updatedAt: str
    url: str


class RotateSecretResponseDelivery(TypedDict):
    batch: NotRequired[RotateSecretResponseDeliveryBatch]
    concurrency: int
    credentials: NotRequired[dict[str, Literal['***']]]
    disableAfter: Literal['off'] | str
    headers: dict[str, Literal['***']]
    oauth2: NotRequired[RotateSecretResponseDeliveryOauth2]
    ordered: bool
    rateLimit: RotateSecretResponseDeliveryRateLimit | None
    retrySchedule: list[str]
    timeout: str
    tls: NotRequired[RotateSecretResponseDeliveryTls]


class RotateSecretResponseDeliveryBatch(TypedDict):
    """How events are sent as arrays. Absent if each event is sent alone."""

    maxEvents: int
    maxWait: str


class RotateSecretResponseDeliveryOauth2(TypedDict):
    """The OAuth 2.0 client of a webhook, if it has one. The secret is not shown."""

    audience: NotRequired[str]
    clientId: str
    clientSecret: Literal['***']
    scope: NotRequired[str]
    tokenUrl: str


class RotateSecretResponseDeliveryRateLimit(TypedDict):
    per: str
    requests: int


class RotateSecretResponseDeliveryTls(TypedDict):
    """The certificates of a webhook, if it has any. The key is not shown."""

    caCert: NotRequired[str]
    clientCert: NotRequired[str]
    clientKey: NotRequired[Literal['***']]


class RotateSecretResponseFilters(TypedDict):
    resourceId: str


class RowChanges(TypedDict):
    deleted: int
    inserted: int
    updated: int


class RowCondition1(TypedDict):
    all: list[RowCondition1 | RowCondition2 | RowCondition3]


class RowCondition2(TypedDict):
    any: list[RowCondition1 | RowCondition2 | RowCondition3]


RowCondition3 = TypedDict(
    "RowCondition3",
    {
        "caseSensitive": "NotRequired[bool]",
        "field": "str",
        "from": "NotRequired[str]",
        "inverted": "NotRequired[bool]",
        "op": "str",
        "values": "NotRequired[list[str | float | bool | None | FilterValuesItem2]]",
    },
)


class RowFilter(TypedDict):
    """A test of one value. Null passes only if the filter selects null. An inverted filter passes exactly the values that the filter does not."""

    caseSensitive: NotRequired[bool]
    inverted: NotRequired[bool]
    op: str
    values: NotRequired[list[str | float | bool | None | FilterValuesItem2]]


class RowQuery(TypedDict):
    computed: NotRequired[list[RowQueryComputedItem]]
    fields: NotRequired[list[RowQueryFieldsItem]]
    joins: NotRequired[list[QueryJoin]]
    limit: NotRequired[int]
    offset: NotRequired[int]
    sort: NotRequired[list[RowQuerySortItem]]
    timezone: NotRequired[str]
    weekStart: NotRequired[Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']]
    where: NotRequired[RowCondition1 | RowCondition2 | RowCondition3]


class RowQueryComputedItem(TypedDict):
    expression: str
    name: str


RowQueryFieldsItem = TypedDict(
    "RowQueryFieldsItem",
    {
        "aggregate": "NotRequired[Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct'] | list[RowQueryFieldsItemAggregate2Item]]",
        "as": "NotRequired[str]",
        "field": "str",
        "filterOption": "NotRequired[Literal['all', 'any']]",
        "filters": "NotRequired[list[RowFilter]]",
        "from": "NotRequired[str]",
        "group": "NotRequired[Literal['hour', 'day', 'week', 'month', 'quarter', 'year']]",
        "having": "NotRequired[list[GroupFilter]]",
        "select": "NotRequired[bool]",
    },
)


RowQueryFieldsItemAggregate2Item = TypedDict(
    "RowQueryFieldsItemAggregate2Item",
    {
        "as": "NotRequired[str]",
        "fn": "Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']",
    },
)


RowQuerySortItem = TypedDict(
    "RowQuerySortItem",
    {
        "field": "str",
        "from": "NotRequired[str]",
        "order": "NotRequired[Literal['asc', 'desc']]",
    },
)


class SQLView(TypedDict):
    connectionId: str
    createdAt: str
    id: str
    name: str
    sql: str
    updatedAt: str


class Schedule1(TypedDict):
    every: str


class Schedule2(TypedDict):
    cron: str
    timezone: NotRequired[str]


class ServiceManifest(TypedDict):
    """Describes an HTTP API as a service with views. A view uses the members of the manifest that it does not set itself."""

    auth: NotRequired[ManifestAuth]
    baseUrl: str
    config: NotRequired[dict[str, ServiceManifestConfigValue | None]]
    description: NotRequired[str]
    docs: NotRequired[str]
    each: NotRequired[dict[str, Any]]
    errors: NotRequired[list[RestErrorsItem]]
    job: NotRequired[dict[str, Any]]
    pagination: NotRequired[RestPagination]
    rateLimit: NotRequired[RestRateLimit]
    request: NotRequired[ManifestRequest]
    response: NotRequired[RestResponse]
    retry: NotRequired[RestRetry]
    service: str
    title: NotRequired[str]
    views: dict[str, ManifestView]


class ServiceManifestConfigValue(TypedDict):
    default: NotRequired[str]
    description: NotRequired[str]
    required: NotRequired[bool]
    secret: NotRequired[bool]
    title: NotRequired[str]


class SetDefinitionBody(TypedDict):
    name: str
    secrets: NotRequired[str | None]
    set: NotRequired[str | None]


class SourceAnswer(TypedDict):
    """A failed request and the response of the source, with `***` for every known secret."""

    excerpt: str
    request: SourceRequest
    status: int | None


class SourceRequest(TypedDict):
    """A request to a source, with `***` for every secret."""

    body: str | None
    headers: list[str]
    method: str
    url: str


class Subscription(TypedDict):
    alertId: NotRequired[str]
    confirmBy: NotRequired[str]
    createdAt: str
    delivery: SubscriptionDelivery
    disabledReason: NotRequired[Literal['user', 'gone', 'failing']]
    events: list[str]
    filter: NotRequired[str]
    filters: NotRequired[SubscriptionFilters]
    httpOperation: NotRequired[Literal['POST', 'GET']]
    id: str
    name: NotRequired[str]
    pausedReason: NotRequired[Literal['user', 'unconfirmed', 'unsubscribed']]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text']]
    state: Literal['active', 'paused', 'disabled']
    transform: NotRequired[str]
    updatedAt: str
    url: str


class SubscriptionDelivery(TypedDict):
    batch: NotRequired[SubscriptionDeliveryBatch]
    concurrency: int
    credentials: NotRequired[dict[str, Literal['***']]]
    disableAfter: Literal['off'] | str
    headers: dict[str, Literal['***']]
    oauth2: NotRequired[SubscriptionDeliveryOauth2]
    ordered: bool
    rateLimit: SubscriptionDeliveryRateLimit | None
    retrySchedule: list[str]
    timeout: str
    tls: NotRequired[SubscriptionDeliveryTls]


class SubscriptionDeliveryBatch(TypedDict):
    """How events are sent as arrays. Absent if each event is sent alone."""

    maxEvents: int
    maxWait: str


class SubscriptionDeliveryOauth2(TypedDict):
    """The OAuth 2.0 client of a webhook, if it has one. The secret is not shown."""

    audience: NotRequired[str]
    clientId: str
    clientSecret: Literal['***']
    scope: NotRequired[str]
    tokenUrl: str


class SubscriptionDeliveryRateLimit(TypedDict):
    per: str
    requests: int


class SubscriptionDeliveryTls(TypedDict):
    """The certificates of a webhook, if it has any. The key is not shown."""

    caCert: NotRequired[str]
    clientCert: NotRequired[str]
    clientKey: NotRequired[Literal['***']]


class SubscriptionFields(TypedDict):
    delivery: NotRequired[SubscriptionFieldsDelivery | None]
    events: NotRequired[list[str]]
    filter: NotRequired[str | None]
    filters: NotRequired[SubscriptionFieldsFilters | None]
    httpOperation: NotRequired[Literal['POST', 'GET'] | None]
    name: NotRequired[str | None]
    preset: NotRequired[Literal['slack', 'teams', 'discord', 'text'] | None]
    transform: NotRequired[str | None]
    url: NotRequired[str]


class SubscriptionFieldsDelivery(TypedDict):
    batch: NotRequired[SubscriptionFieldsDeliveryBatch | None]
    concurrency: NotRequired[int | None]
    credentials: NotRequired[dict[str, str | None] | None]
    disableAfter: NotRequired[Literal['off'] | str | None]
    headers: NotRequired[dict[str, str | None] | None]
    oauth2: NotRequired[SubscriptionFieldsDeliveryOauth2 | None]
    ordered: NotRequired[bool | None]
    rateLimit: NotRequired[SubscriptionFieldsDeliveryRateLimit1 | int | None]
    retrySchedule: NotRequired[list[str] | None]
    timeout: NotRequired[str | None]
    tls: NotRequired[SubscriptionFieldsDeliveryTls | None]


class SubscriptionFieldsDeliveryBatch(TypedDict):
    maxEvents: int
    maxWait: NotRequired[str | None]


class SubscriptionFieldsDeliveryOauth2(TypedDict):
    audience: NotRequired[str | None]
    clientId: str
    clientSecret: str
    scope: NotRequired[str | None]
    tokenUrl: str


class SubscriptionFieldsDeliveryRateLimit1(TypedDict):
    per: NotRequired[str]
    requests: int


class SubscriptionFieldsDeliveryTls(TypedDict):
    caCert: NotRequired[str | None]
    clientCert: NotRequired[str | None]
    clientKey: NotRequired[str | None]


class SubscriptionFieldsFilters(TypedDict):
    resourceId: NotRequired[str | None]


class SubscriptionFilters(TypedDict):
    resourceId: str


class SubscriptionHealth(TypedDict):
    backlog: int
    backlogAtLeast: NotRequired[bool]
    breaker: Literal['closed', 'open', 'halfOpen', 'unknown']
    oldestPendingAt: str | None
    successShare: float | None


class SubscriptionStats(TypedDict):
    buckets: list[SubscriptionStatsBucketsItem]
    delivered: int
    deliveredShare: float | None
    exhausted: int
    failed: int
    firstAttempt: int
    firstAttemptShare: float | None
    p50Ms: float | None
    p99Ms: float | None
    since: str
    step: str


SubscriptionStatsBucketsItem = TypedDict(
    "SubscriptionStatsBucketsItem",
    {
        "delivered": "int",
        "exhausted": "int",
        "failed": "int",
        "firstAttempt": "int",
        "from": "str",
        "p50Ms": "float | None",
        "p99Ms": "float | None",
    },
)


class Table(TypedDict):
    """The feed as an Iceberg table. It is only in the response of `GET /data_feeds/{id}`, and only after the metadata was written. Tables need a bucket, or the setting `icebergLocal`."""

    metadataLocation: str
    name: str
    namespace: str
    version: int


class TestConnectionResponse(TypedDict):
    detail: str
    durationMs: float
    ok: bool


class TestListenerBody(TypedDict):
    data: NotRequired[Any]
    type: NotRequired[str | None]


class TestSubscriptionBody(TypedDict):
    data: NotRequired[Any]
    type: NotRequired[str | None]


class TestSubscriptionResponse(TypedDict):
    at: str
    body: NotRequired[str]
    bodyTruncated: NotRequired[bool]
    error: NotRequired[str]
    headers: list[TestSubscriptionResponseHeadersItem]
    headersTruncated: NotRequired[bool]
    status: NotRequired[int]
    succeeded: bool
    timing: TestSubscriptionResponseTiming


class TestSubscriptionResponseHeadersItem(TypedDict):
    name: str
    value: str


class TestSubscriptionResponseTiming(TypedDict):
    """Durations in milliseconds. A phase that did not happen is 0, such as connecting when the connection was already open."""

    connectMs: float
    dnsMs: float
    firstByteMs: float
    tlsMs: float
    totalMs: float


class TracedRequest(TypedDict):
    """A request to the source and its result. Secrets are masked."""

    at: str
    attempt: int
    bytes: int
    durationMs: float
    error: str | None
    excerpt: str | None
    method: str
    page: int | None
    request: SourceRequest | None
    rows: int
    status: int | None
    url: str
    waitedFor: Literal['rateLimit', 'retryAfter', 'backOff'] | None
    waitedMs: float


class UndeliveredGroup(TypedDict):
    count: int
    error: NotRequired[str]
    firstAt: str
    lastAt: str
    newestDeliveryId: str
    state: Literal['exhausted', 'discarded']
    subscription: ReadSubscription | None
    subscriptionId: NotRequired[str]


class UploadSource(TypedDict):
    """How the data is read."""

    entry: NotRequired[str]
    explode: NotRequired[str]
    file: NotRequired[str]
    format: Literal['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'xml', 'parquet', 'arrow']
    path: NotRequired[str]
    reading: NotRequired[FoundReading]
    sheet: NotRequired[int]
    types: Literal['auto', 'text']


class Warning(TypedDict):
    code: str
    column: str | None
    count: int
    detail: str
    examples: list[WarningExamplesItem]
    firstRow: int | None


class WarningExamplesItem(TypedDict):
    line: NotRequired[int]
    row: NotRequired[int]
    value: str


class WholeRefresh(TypedDict):
    """A refresh with all of its requests."""

    bytesIn: int
    durationMs: float | None
    endedAt: str | None
    error: FeedError | None
    id: str
    outcome: Literal['changed', 'unchanged'] | None
    pages: int
    parts: int | None
    partsDone: int | None
    progress: float | None
    requests: int
    rows: RowChanges | None
    rowsIn: int
    rowsKnown: int
    rowsRejected: int
    rowsStored: int
    rowsSuperseded: int
    stage: Literal['waiting', 'fetching', 'modelling', 'storing'] | None
    startedAt: str
    state: Literal['pending', 'running', 'succeeded', 'failed']
    trace: list[TracedRequest]
    trigger: str | None
    version: int | None
    warnings: list[Warning]


class Workspace(TypedDict):
    createdAt: str
    deleting: NotRequired[WorkspaceDeleting]
    externalId: str | None
    id: str
    lastRequestAt: str | None
    metadata: dict[str, Any]
    name: str
    quotas: Quotas
    usage: WorkspaceUsage


class WorkspaceDeleting(TypedDict):
    """The progress of the deletion in records and files. `total` is 0 until they are counted."""

    done: int
    total: int


class WorkspaceName(TypedDict):
    createdAt: str
    id: str
    name: str


class WorkspaceUsage(TypedDict):
    concurrentQueries: int
    concurrentUploads: int
    eventsPerDay: int
    feeds: int
    storedBytes: int
    subscriptions: int

AggregateName: TypeAlias = Literal['sum', 'avg', 'min', 'max', 'count', 'countDistinct']
BreakerState: TypeAlias = Literal['closed', 'open', 'halfOpen', 'unknown']
DeliveryId: TypeAlias = str
DeliveryState: TypeAlias = Literal['pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'discarded']
Duration: TypeAlias = str
EventId: TypeAlias = str
ExpectEvery: TypeAlias = str
ExternalID: TypeAlias = str | None
FeedKey: TypeAlias = list[str]
FeedMode: TypeAlias = Literal['replace', 'append', 'merge']
FeedSource: TypeAlias = UploadSource | FeedSource2
FilterValues: TypeAlias = list[str | float | bool | None | FilterValuesItem2]
Handle: TypeAlias = str
ListenerLine: TypeAlias = ListenerLine1 | ListenerLine2 | ListenerLine3
ManifestField: TypeAlias = ManifestField | None
Metadata: TypeAlias = dict[str, Any]
Name: TypeAlias = str
NewConnection: TypeAlias = NewConnection1 | NewConnection2 | NewConnection3 | NewConnection4
RestAuth: TypeAlias = Any
RestColumns: TypeAlias = list[PickedColumn | FoundColumn]
RestDeleted: TypeAlias = Any
RestDuration: TypeAlias = str
RestErrors: TypeAlias = list[RestErrorsItem]
RestHeaderName: TypeAlias = str
RestHeaderText: TypeAlias = str
RestPath: TypeAlias = str
RestSignal: TypeAlias = str | RestSignal2
RestURL: TypeAlias = str
RestValue: TypeAlias = str | float | bool | RestSecret
RowCondition: TypeAlias = RowCondition1 | RowCondition2 | RowCondition3
Rules: TypeAlias = int
Schedule: TypeAlias = Schedule1 | Schedule2
Scope: TypeAlias = Literal['api:read', 'api:write', 'events:publish', 'admin']
SecretsDigest: TypeAlias = str
ServiceName: TypeAlias = str
SigningSecret: TypeAlias = str
SubscriptionId: TypeAlias = str
SubscriptionState: TypeAlias = Literal['active', 'paused', 'disabled']
TableName: TypeAlias = str
Timestamp: TypeAlias = str
